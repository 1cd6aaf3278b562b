"""Break-evens of made-up policies, whose roots and noise are known, and of real runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.studies.sweeps import outcome, stored
from thzsync import break_even
from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import METRICS
from thzsync.experiments.parallel import Failure
from thzsync.experiments.runs import Result, Tally, Task
from thzsync.experiments.statistics import interval95
from thzsync.experiments.store import Store
from thzsync.report import open_results
from thzsync.report.data import report_data
from thzsync.scenario.changes import value_at
from thzsync.studies import Sweep
from thzsync.studies.break_even_text import (
    break_even_table,
    headline,
    sentence,
    values_table,
)
from thzsync.studies.break_evens import NONE, OPEN, SEVERAL, TURN, UNDECIDED, Finding
from thzsync.studies.specification import BreakEven, read_break_even, specify
from thzsync.studies.sweeping import carried_out, plan_sweep

KEY = "thz.noise_figure_db"
Difference = Callable[[float, int], float]
"""Of a key's value and a seed."""


def searched(
    difference: Difference,
    key: str = KEY,
    low: Any = 0,
    high: Any = 20,
    axes: dict[str, list[Any]] | None = None,
    fails: Callable[[float], bool] = lambda x: False,
    **options: Any,
) -> Sweep:
    """A search in which runs are made up: the reference takes 100 ms, the other one more or less.

    ``seeds`` and parts of the break-even, such as its tolerance, are ``options``.
    """
    seeds = options.pop("seeds", 4)
    sought = {"key": key, "low": low, "high": high, **options}
    asked = {"break_even": sought, "seeds": seeds, "iterations": 1, "axes": axes or {}}
    store = Store()

    def do(tasks: Sequence[Task]) -> None:
        for task in tasks:
            x = value_at(task.scenario, key)
            value = 100.0 + (difference(x, task.seed) if task.policy == "thz-sync" else 0.0)
            frame = pl.DataFrame({"iteration": [0], **{metric: [value] for metric in METRICS}})
            store.keep(task.key, Failure(ValueError("no")) if fails(x) else Result(frame))

    return carried_out(plan_sweep("tiny", asked), store, do)


def one(sweep: Sweep) -> Finding:
    (found,) = sweep.break_evens
    return found


def spread(seed: int) -> float:
    """Noise of four seeds with mean zero and the known interval ± 1.182."""
    return (-0.9, -0.3, 0.3, 0.9)[seed]


def test_a_known_root_and_a_known_interval_are_found() -> None:
    found = one(searched(lambda x, seed: x - 7.3 + spread(seed)))
    half = interval95(np.array([spread(seed) for seed in range(4)]))[1]
    (turn,) = found.turns
    assert found.verdict == TURN
    assert (turn.before, turn.behind) == ("thz-sync", "all-wired-best")
    assert turn.x == pytest.approx(7.3)
    assert turn.low is not None
    assert turn.high is not None
    assert 7.3 - half - 0.02 * 20 <= turn.low <= 7.3 - half
    assert 7.3 + half <= turn.high <= 7.3 + half + 0.02 * 20
    assert found.sign_changes == 1


def test_values_are_as_near_to_root_and_both_edges_as_the_tolerance() -> None:
    found = one(
        searched(lambda x, seed: (x - 12) ** 3 + x - 12 + 90 * spread(seed), tolerance=0.01)
    )
    (turn,) = found.turns
    low, centre, high = np.searchsorted(found.x, [turn.low, turn.x, turn.high])  # type: ignore[list-item]
    for left in (low, centre - 1, high - 1):
        assert found.x[left + 1] - found.x[left] <= 0.01 * 20
    assert len(found.x) <= 3 + 3 * 7


def test_ends_come_first_then_the_middle_then_halves() -> None:
    sweep = searched(lambda x, seed: x - 12.0, tolerance=0.25)
    assert [point[KEY] for point in sweep.points] == [0.0, 10.0, 15.0, 20.0]
    assert sweep.frame[KEY].to_list() == sorted(sweep.frame[KEY].to_list())


def test_where_signs_agree_one_middle_is_all_that_is_looked_at() -> None:
    found = one(searched(lambda x, seed: 5.0 + x + spread(seed)))
    assert (found.verdict, found.turns, found.x.tolist()) == (NONE, [], [0.0, 10.0, 20.0])
    assert {"5 ± 1.2", "25 ± 1.2"} <= set(re.findall(r"[\d.]+ ± [\d.]+", sentence(found)))


def test_a_turn_and_back_between_equal_ends_is_seen_from_the_middle() -> None:
    found = one(searched(lambda x, seed: (x - 6) * (x - 15) + 0.1 * spread(seed)))
    assert found.verdict == SEVERAL
    assert [turn.x for turn in found.turns] == [pytest.approx(x, abs=0.1) for x in (6, 15)]
    assert "2 times" in sentence(found)


def test_one_seed_decides_nothing_but_tells_where_it_turns() -> None:
    found = one(searched(lambda x, seed: x - 4.4, seeds=1))
    assert found.verdict == UNDECIDED
    assert "one seed" in sentence(found)
    assert found.turns[0].x == pytest.approx(4.4)
    assert (found.turns[0].low, found.turns[0].high) == (None, None)


def test_one_seed_whose_difference_keeps_its_sign_is_undecided_too() -> None:
    found = one(searched(lambda x, seed: 1.0, seeds=1))
    assert (found.verdict, found.turns) == (UNDECIDED, [])


def test_an_interval_that_leaves_the_range_is_open() -> None:
    found = one(searched(lambda x, seed: x - 19.5 + spread(seed)))
    (turn,) = found.turns
    assert (found.verdict, turn.high) == (OPEN, None)
    assert turn.x == pytest.approx(19.5)


def test_what_is_decided_in_a_part_alone_is_no_verdict_on_the_range() -> None:
    found = one(searched(lambda x, seed: -2.0 + (0.0 if x < 5 else x * spread(seed))))
    assert found.verdict == UNDECIDED
    assert {True, False, None} - set(found.decided) == {True}


def test_a_wiggle_inside_the_interval_is_one_turn_and_is_told() -> None:
    x = np.arange(7.0)
    mean = np.array([-9.0, -1.0, 1.0, -1.0, 1.0, 2.0, 9.0])
    sought = BreakEven(key=KEY, low=0, high=6)
    found = Finding(sought, {}, "a", "b", 3, x, mean, np.full(7, 3.0))
    (turn,) = found.turns
    assert (turn.x, found.sign_changes, found.verdict) == (2.5, 3, TURN)
    assert (turn.before, turn.behind) == ("b", "a")
    assert (turn.low, turn.high) == (0.0, 6.0)
    assert "3 times" in sentence(found)


def test_decades_are_halved_as_ratios_and_quantities_have_units() -> None:
    ends = {"key": "optical.access_bps", "low": "1 Gb/s", "high": "10 Tb/s"}
    found = one(searched(lambda x, seed: np.log10(x / 2e10) + 0.1 * spread(seed), **ends))
    assert found.x[len(found.x) // 2] < 1e12
    assert found.turns[0].x == pytest.approx(2e10, rel=0.01)
    assert len(found.x) <= 3 + 3 * 6
    assert "20 Gb/s" in sentence(found)


def test_whole_numbers_stay_whole() -> None:
    sweep = searched(lambda x, seed: x - 5.5, "thz.subbands", 1, 16, tolerance=0.001)
    assert {5, 6} <= {point["thz.subbands"] for point in sweep.points}
    assert all(type(point["thz.subbands"]) is int for point in sweep.points)
    assert one(sweep).turns[0].x == pytest.approx(5.5, abs=0.05)  # on a scale of ratios


def test_every_value_of_another_axis_has_its_own() -> None:
    def difference(x: float, seed: int) -> float:
        return x - 7.0 + spread(seed)

    sweep = searched(difference, axes={"thz.subbands": [1, 2]})
    assert [found.held for found in sweep.break_evens] == [{"thz.subbands": k} for k in (1, 2)]
    assert len(break_even_table(sweep.break_evens).rows) == 2
    assert "2 of 2" in headline(sweep.break_evens)


def test_a_value_whose_runs_fail_ends_the_search_there() -> None:
    found = one(searched(lambda x, seed: x - 11.0, fails=lambda x: x == 10))
    assert found.x.tolist() == [0.0, 20.0]
    assert found.turns[0].x == pytest.approx(11.0)


@pytest.mark.parametrize("metric", ["energy_j", "wall_energy_j", "total_energy_j"])
def test_break_evens_are_sought_in_every_energy(metric: str) -> None:
    found = one(searched(lambda x, seed: x - 11.0, metric=metric))
    assert found.turns[0].x == pytest.approx(11.0)
    assert found.metric.unit == "J"


def test_of_rewards_the_higher_is_better() -> None:
    found = one(searched(lambda x, seed: x - 7.0, metric="reward"))
    (turn,) = found.document()["turns"]
    assert (turn["lower_below"], turn["lower_above"]) == ("thz-sync", "all-wired-best")
    row = dict(zip((c.name for c in break_even_table([found]).columns),
                   break_even_table([found]).rows[0], strict=True))  # fmt: skip
    assert (row["Better below"], row["Better above"]) == ("All-wired, best", "THz-SynC")
    assert values_table([found]).rows[0][-1] == "All-wired, best"


@pytest.mark.parametrize("fresh", [0.0, 0.5, 1.0])
def test_the_interval_covers_the_root_about_as_often_as_stated(fresh: float) -> None:
    """``fresh`` is the share of the noise that is drawn anew at every value of the key."""
    draws, repetitions = np.random.default_rng(34), 400
    sought = BreakEven(key=KEY, low=0, high=20)
    covered = 0
    for _ in range(repetitions):
        root, shift = draws.uniform(6, 14), (1 - fresh) * draws.standard_normal(5)
        values: dict[float, Any] = {}
        asked = [0.0, 20.0]
        while asked:
            for x in asked:
                noise = shift + fresh * draws.standard_normal(5)
                values[x] = (x - root) + 0.05 * (x - root) ** 3 + 3 * noise
            x = np.array(sorted(values))
            mean, half = np.array([interval95(values[k]) for k in x]).T
            found = Finding(sought, {}, "a", "b", 5, x, mean, half)
            asked = [x for x in found.between() if x not in values]
        covered += any(
            (turn.low is None or turn.low <= root) and (turn.high is None or root <= turn.high)
            for turn in found.turns
        )
    # Four standard deviations of a count with a chance of 0.95.
    assert covered / repetitions == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / repetitions) ** 0.5)


REAL: dict[str, Any] = {
    "key": "optical.access_bps",
    "low": "5 Gb/s",
    "high": "800 Gb/s",
    "policies": ["all-wired", "all-wireless"],
    "seeds": 3,
    "iterations": 1,
    "tolerance": 0.2,
}


def test_real_runs_are_resumed_and_shown(tmp_path: Path) -> None:
    whole = break_even("tiny", **REAL, workers=1, out=tmp_path / "whole")
    found = one(whole)
    assert found.verdict == TURN
    assert 5e9 < found.turns[0].low <= found.turns[0].x <= found.turns[0].high < 800e9  # type: ignore[operator]

    def stop(tally: Tally) -> None:
        if len(stored(tmp_path / "cut")) >= 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_even("tiny", **REAL, workers=1, out=tmp_path / "cut", watch=stop)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cut/finished").iterdir()}
    assert 15 <= len(before) < whole.frame.height
    break_even("tiny", **REAL, workers=2, out=tmp_path / "cut", resume=True)
    assert before.items() <= {p: p.stat().st_mtime_ns for p in before}.items()
    assert outcome(tmp_path / "cut") == outcome(tmp_path / "whole")

    document = json.loads((tmp_path / "whole/sweep.json").read_text())["break_even"]
    assert document["rows"][0]["turns"][0]["x"] == found.turns[0].x
    assert len(document["rows"][0]["values"]) == len(whole.points)
    results = open_results(tmp_path / "whole")
    shown = report_data(results)["sweep"]
    assert shown["metrics"][0]["key"] == "makespan_ms_diff"
    (panel,) = shown["panels"]["optical.access_bps"]
    assert panel["crossovers"]["makespan_ms_diff"][0]["x"] == found.turns[0].x
    assert panel["series"]["makespan_ms_diff"].keys() == {"all-wireless"}
    pictures = {path.name for path in (tmp_path / "whole/figures").iterdir()}
    assert pictures == {f"break_even_by_optical.access_bps.{end}" for end in ("png", "svg")}


def test_the_command_says_the_answer_first(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["sweep", "tiny", "--break-even", "thz.noise_figure_db=0..30", "--seeds", "2"]
    command += ["--policies", "all-wired,all-wireless", "--iterations", "1", "--workers", "1"]
    assert main([*command, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["break_even"]["rows"]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(row["answer"][:40])
    assert main([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 4 / 2 * (3 + 2 * 6) * 2


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_warning_of_many_steps_is_told_once(
    workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", "tiny", "--set", "thz.subbands=16", "--break-even", f"{KEY}=0..9"]
    command += ["--policies", "all-wired,all-wireless", "--seeds", "2", "--iterations", "1"]
    assert main([*command, "--workers", workers]) == 0
    error = capsys.readouterr().err
    assert "290-370 GHz" in error
    assert error.count("\n") == 1


def test_a_file_may_ask_for_a_break_even_and_options_replace_it(tmp_path: Path) -> None:
    file = tmp_path / "question.toml"
    file.write_text(
        'base = "tiny"\n[break_even]\nkey = "thz.subbands"\nlow = 1\nhigh = 8\n'
        'metric = "energy_j"\n'
    )
    plan = plan_sweep(file, {})
    assert [point["thz.subbands"] for point in plan.points] == [1, 8]
    assert {run.policy for run in plan.runs} == {"all-wired-best", "thz-sync"}
    other = plan_sweep(file, {"break_even": read_break_even(f"{KEY}=0.5..2.5")})
    assert [point[KEY] for point in other.points] == [0.5, 2.5]
    assert "thz.subbands" not in other.points[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--break-even", KEY], "--break-even: .*KEY=LOW..HIGH"),
        (["--break-even", f"{KEY}=3.."], "--break-even: .*KEY=LOW..HIGH"),
        (["--break-even", f"{KEY}=5..1"], f"break-even: {KEY}: found 5..1; .*lower end first"),
        (["--break-even", f"{KEY}=5..5"], f"break-even: {KEY}: found 5..5; .*lower end first"),
        (["--break-even", "thz.noise=0..1"], "thz.noise=0: thz.noise: unknown key"),
        (["--break-even", "name=a..b"], "break-even: name is 'a'; .*numbers"),
        (["--break-even", "optical.access_bps=1 Gb/s..2 GHz"], "optical.access_bps=2 GHz: "),
        (["--break-even", f"{KEY}=0..9", "--metric", "fun"], "sweep: break_even.metric: .*'fun'"),
        (["--break-even", f"{KEY}=0..9", "--tolerance", "0"], "sweep: break_even.tolerance: "),
        (["--break-even", f"{KEY}=0..9", "--policies", "all"], "sweep: policies: "),
        (["--break-even", f"{KEY}=0..9", "--set", f"{KEY}=1,2"], f"sweep: axes: {KEY} .*twice"),
        (["--break-even", f"{KEY}=0..9", "--shard", "1/2", "--out", "x"], "--shard: "),
        (["--metric", "energy_j"], "--metric: .*--break-even"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "tiny", *arguments]) == 2
    error = capsys.readouterr().err
    assert re.match(f"thzsync: error: {message}", error)
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_two_policies_break_even() -> None:
    sought = {"key": KEY, "low": 0, "high": 1}
    with pytest.raises(ThzSyncError, match=r"policies: .*thz-sync"):
        specify({"break_even": sought, "policies": ["thz-sync"]}, "x")


def test_every_energy_can_be_sought() -> None:
    for metric in ("wall_energy_j", "static_energy_j", "total_energy_j"):
        sought = {"key": "thz.noise_figure_db", "low": 0, "high": 20, "metric": metric}
        assert specify({"base": "tiny", "break_even": sought}, "").break_even is not None
