"""`ask`: paired candidates, a verdict that respects its evidence, and named assumptions."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coordinator.outside import Averaging
from thzsync import Scenario, simulate
from thzsync.answer import Answer, Effort, ask
from thzsync.answer.question import (
    FIBRE,
    HYBRID,
    PIPELINED,
    THZ,
    checks_of,
    pipelined,
    scenario_of,
    undefeated,
)
from thzsync.answer.text import VERDICTS, candidates_table, lines, next_step
from thzsync.assumptions import assumptions
from thzsync.cli import main
from thzsync.coordinator import register_policy
from thzsync.experiments.statistics import interval95

QUICK = Effort(seeds=2, iterations=2, check_seeds=1, check_iterations=2)


@cache
def answered(source: str = "tiny") -> Answer:
    return ask(source, QUICK, workers=1)


def with_difference(diff_ms: float, half_ms: float) -> Answer:
    """An answer in which only the hybrid's difference from fibre only is made up."""
    rows = [
        row | {"diff_makespan_ms": diff_ms, "ci95_diff_makespan_ms": half_ms}
        if row["candidate"] == PIPELINED
        else row
        for row in answered().candidates
    ]
    return replace(answered(), candidates=tuple(rows))


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_policy_from_outside_may_coordinate() -> None:
    register_policy(Averaging)
    found = ask("tiny", QUICK, workers=1, policy="averaging")
    policies = [row["policy"] for row in found.candidates]
    assert policies == ["all-wired-best", "all-wireless-best", "averaging", "averaging"]
    assert found.candidate(FIBRE) == answered().candidate(FIBRE) | {
        "best": found.candidate(FIBRE)["best"]
    }


def test_fibre_only_runs_on_the_best_structures_that_fibre_has() -> None:
    runs = [simulate("tiny", "all-wired-best", 2, seed) for seed in (0, 1)]
    means = [run.iterations.filter(run.iterations["iteration"] == 1) for run in runs]
    expected = sum(float(frame["makespan_ms"][0]) for frame in means) / 2
    assert answered().candidate(FIBRE)["makespan_ms"] == pytest.approx(expected)


def test_differences_and_their_intervals_are_paired_seed_by_seed() -> None:
    differences = []
    for seed in (0, 1):
        last_ms = [
            simulate("tiny", policy, 2, seed).iterations["makespan_ms"][-1]
            for policy in ("all-wireless-best", "all-wired-best")
        ]
        differences.append(last_ms[0] - last_ms[1])
    row = answered().candidate(THZ)
    found = row["diff_makespan_ms"], row["ci95_diff_makespan_ms"]
    assert found == pytest.approx(interval95(np.array(differences)))
    assert answered().candidate(FIBRE)["diff_makespan_ms"] == 0


def test_all_four_candidates_answer_unless_two_are_the_same() -> None:
    assert [row["candidate"] for row in answered().candidates] == [FIBRE, THZ, HYBRID, PIPELINED]
    best = pipelined(Scenario.preset("tiny"))
    found = ask(best, QUICK, workers=1)
    assert [row["candidate"] for row in found.candidates] == [FIBRE, THZ, PIPELINED]
    assert found.hybrid["makespan_ms"] == answered().hybrid["makespan_ms"]


@pytest.mark.parametrize(
    ("diff_ms", "half_ms", "pays"),
    [(-5.0, 1.0, True), (5.0, 1.0, False), (-5.0, 6.0, None), (-5.0, float("nan"), None)],
)
def test_a_verdict_respects_its_evidence(diff_ms: float, half_ms: float, pays: bool | None) -> None:
    answer = with_difference(diff_ms, half_ms)
    assert answer.pays is pays
    assert lines(answer)[0].startswith(VERDICTS[pays])


def test_one_seed_decides_nothing() -> None:
    one = ask("tiny", replace(QUICK, seeds=1), workers=1)
    assert one.pays is None


def test_bold_follows_the_paired_difference() -> None:
    """Seeds scatter by 20 ms; the second is 1 ms slower in each of them, the third in most."""
    seeds = np.array([10.0, 20.0, 30.0, 40.0])
    values = {"a": seeds, "b": seeds + 1, "c": seeds + np.array([1.0, -1.0, 2.0, 1.0])}
    found = {name: {"makespan_ms": own} for name, own in values.items()}
    assert undefeated(found, "makespan_ms") == ["a", "c"]
    alone = {name: {"makespan_ms": own[:1]} for name, own in values.items()}
    assert undefeated(alone, "makespan_ms") == []


def test_the_table_of_candidates_prints_bold_whom_nobody_defeats() -> None:
    rows = [row | {"best": ["makespan_ms"]} for row in answered().candidates[:2]]
    wide = [row | {"best": [], "ci95_makespan_ms": 1e9} for row in answered().candidates[2:]]
    table = candidates_table(replace(answered(), candidates=(*rows, *wide)))
    assert [[cell.best for cell in line] for line in table.cells()] == [
        *([[False, True, False, False, False]] * 2),
        *([[False] * 5] * 2),
    ]
    for metric in ("makespan_ms", "exposed_ms", "energy_j"):
        least = min(answered().candidates, key=lambda row: float(row[metric]))
        assert metric in least["best"]


def test_every_assumption_is_part_of_the_answer() -> None:
    said = " ".join(lines(answered()))
    assert all(text in said for text in assumptions(answered().scenario).values())


def test_every_check_changes_an_assumption_of_the_scenario() -> None:
    for name in ("tiny", "paper", "beyond", "single-ring"):
        setting = Scenario.preset(name)
        checks = checks_of(setting)
        assert len(checks) == 3
        assert all(setting.with_(changes) != setting for changes in checks.values())


@pytest.mark.parametrize("radio", ["today", "2030"])
def test_a_radio_that_exists_is_compared_with_the_papers(radio: str) -> None:
    setting = Scenario.preset("paper").with_overlays(radio)
    changes = checks_of(setting)["the paper's radio"]
    assert setting.with_(changes).thz == setting.with_overlays("paper").thz
    assert len(checks_of(setting)) == 3


def test_fibre_only_has_no_static_energy_of_rf_chains() -> None:
    """Beside a floor of 6 racks with 4 chains of 1 W, its static energy is that of modules."""
    energy = {"energy.thz.idle_w": 1.0, "energy.fibre.idle_w_per_port": 2.0}
    answer = ask(Scenario.preset("tiny").with_(energy), QUICK, workers=1)
    watts = {FIBRE: 14 * 2.0, THZ: 14 * 2.0 + 6 * 4 * 1.0}
    for name, static_w in watts.items():
        row = answer.candidate(name)
        static_j = static_w * row["makespan_ms"] / 1e3
        assert row["static_energy_j"] == pytest.approx(static_j, rel=1e-9)
        assert row["total_energy_j"] == pytest.approx(row["wall_energy_j"] + static_j, rel=1e-9)


def test_the_next_step_halves_the_change_of_a_number() -> None:
    answer = answered()
    row = dict(
        answer.checks[0],
        check="the paper's radio",
        changes={"thz.rate": "shannon", "thz.noise_figure_db": 3.5},
    )
    row["diff_makespan_ms"] = 1e6  # matters most
    told = next_step(replace(answer, checks=(row, *answer.checks)))
    assert "thz.rate" not in told
    assert "with half of the change “" in told


def test_fibre_that_is_not_oversubscribed_is_asked_at_twice_its_rate() -> None:
    level = Scenario.preset("paper").with_({"optical.inter_bps": "800 Gbps"})
    changes = next(iter(checks_of(level).values()))
    assert changes == {"optical.access_bps": 200e9, "optical.inter_bps": 1600e9}


def test_checks_of_other_networks_change_their_own_keys() -> None:
    clos = {"network": {"kind": "leaf-spine", "racks_per_leaf": 3, "oversubscription": 4}}
    crowded = Scenario.preset("tiny").with_(clos)
    assert checks_of(crowded)["no oversubscription"] == {"network.oversubscription": 1}
    level = crowded.with_({"network.oversubscription": 1})
    assert checks_of(level)["fibre twice as fast"] == {"optical.access_bps": 200e9}


def test_a_network_from_a_file_has_no_check_of_its_rates(tmp_path: Path) -> None:
    topology = tmp_path / "six.yml"
    topology.write_text("topology: [Ring]\nnpus_count: [6]\nbandwidth: [1.0]\nlatency: [1]\n")
    setting = Scenario.preset("tiny").with_({"network": {"kind": "file", "file": str(topology)}})
    assert not any("fibre" in name or "oversub" in name for name in checks_of(setting))


def test_the_answer_for_rows_does_not_speak_of_rings() -> None:
    floor = {"floor": {"kind": "rows", "rows": 2, "racks_per_row": 3}}
    for network in ({"kind": "rings"}, {"kind": "leaf-spine", "racks_per_leaf": 3, "spines": 2}):
        setting = Scenario.preset("tiny").with_(floor | {"network": network})
        said = " ".join(lines(ask(setting, Effort(1, 2, 1, 2), workers=1)))
        assert "between rows" in said or "leaf-spine" in said
        assert "ring" not in said.split()
        assert "rings" not in said


def test_the_most_sensitive_check_comes_first() -> None:
    usual = answered().hybrid["diff_makespan_ms"]
    moved = [abs(row["diff_makespan_ms"] - usual) for row in answered().most_sensitive()]
    assert moved == sorted(moved, reverse=True)


def test_the_next_step_is_a_command_that_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    said = next_step(answered()).removeprefix("Next: thzsync ").split(" asks ")[0]
    quick = ["--seeds", "1", "--iterations", "2", "--workers", "1"]
    assert main([*shlex.split(said), *quick]) == 0
    capsys.readouterr()


def test_the_next_step_repeats_what_the_user_changed(capsys: pytest.CaptureFixture[str]) -> None:
    told = ["ask", "tiny", "--set", "thz.subbands=2", "--seeds", "1", "--iterations", "2"]
    assert main([*told, "--workers", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"] == 'tiny --set "thz.subbands=2"'


def test_a_trace_runs_on_as_many_rings_as_its_racks_fill(tmp_path: Path) -> None:
    file = tmp_path / "job.trace"
    assert main(["trace", "generate", "tiny", "--out", str(file)]) == 0
    setting = scenario_of(str(file))
    racks = Scenario.preset("tiny").floor.racks
    assert setting.floor.rings == -(-racks // setting.floor.lanes)
    assert setting.jobs[0].trace == str(file)
    assert ask(str(file), QUICK, workers=1).source == str(file)


def test_the_next_step_names_the_file_that_the_user_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('preset = "tiny"\nname = "another"\n')
    told = ["ask", str(file), "--seeds", "1", "--iterations", "2", "--workers", "1", "--json"]
    assert main(told) == 0
    assert json.loads(capsys.readouterr().out)["source"] == str(file)


def test_the_command_writes_the_answer_and_its_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answer"
    told = ["ask", "tiny", "--seeds", "2", "--iterations", "2", "--workers", "1", "--json"]
    assert main([*told, "--out", str(out)]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    kept = json.loads((out / "answer.json").read_text())
    assert kept["candidates"] == document["candidates"]
    assert kept["answer"] == document["answer"]
    assert "<svg" in (out / "answer.svg").read_text()
    assert Scenario.load(out / "scenario.toml") == Scenario.preset("tiny")


def test_a_file_that_is_no_trace_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no trace")
    assert main(["ask", str(file)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
