from __future__ import annotations

import json
import sys
from itertools import accumulate, islice
from types import ModuleType

import pytest

from thzsync.cli import main
from thzsync.cli.bench import MEASURES, Subject, flatten
from thzsync.experiments.bench_iteration import llama, marginal_s
from thzsync.experiments.budgets import judged
from thzsync.feasibility import pace
from thzsync.optical import bench as optical_bench
from thzsync.scenario import Scenario

FIGURES = {
    Subject.OPTICAL: {"packet_hops_per_s": 9e6, "ratio": 70.0},
    Subject.SYNTHESIS: {"a2a_round_us": 200.0},
    Subject.DECISION: {"p2p": {"p50_us": 150.0, "p99_us": 400.0}},
    Subject.ITERATION: {"paper": {"all-wired": 0.2, "thz-sync": 0.5}},
    Subject.CONTACT: {"help_s": 0.2},
    Subject.FIGURES: {"make_run_s": 90.0},
    Subject.PEERS: {"thzsync": {"packet_hops_per_s": 9e6}},
}


@pytest.fixture(autouse=True)
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for the measurements: what is tested here is how they are shown."""
    for subject, module in MEASURES.items():
        fake = ModuleType(module)
        fake.measure = lambda *_, subject=subject: FIGURES[subject]  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module, fake)


def test_one_subject_prints_its_own_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "optical", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == FIGURES[Subject.OPTICAL]


def test_all_prints_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {*(s.value for s in FIGURES), "pace", "budgets"}
    assert found["pace"].keys() == {s.value for s in FIGURES}
    for subject, figures in FIGURES.items():
        assert found[subject.value] == figures


def test_budgets_are_judged_where_something_was_measured() -> None:
    found = {row["what"]: row for row in judged({s.value: f for s, f in FIGURES.items()})}
    assert found["optical kernel"]["today"] == 9.0
    assert found["optical kernel"]["holds"] is False  # 16 at least
    assert found["iteration of paper, all-wired"]["holds"] is True
    assert found["iteration of paper, thz-sync"]["holds"] is False
    assert found["decision on a P2P, median"]["today"] == 0.15
    assert found["run of tiny, warm"]["holds"] is None


def test_a_slow_machine_is_told_from_slow_software() -> None:
    measured = {s.value: f for s, f in FIGURES.items()}
    measured["pace"] = {s.value: 0.5 for s in FIGURES}
    found = {row["what"]: row for row in judged(measured)}
    assert found["optical kernel"]["at_pace"] == 18.0
    assert found["optical kernel"]["holds_at_pace"] is True
    assert found["optical kernel beside SimPy"]["at_pace"] == 70.0  # a ratio is one at any pace
    assert found["iteration of paper, thz-sync"]["at_pace"] == 0.25
    assert found["make run, 3 seeds, nothing compiled, 2 cores"]["at_pace"] == 45.0
    assert found["run of tiny, warm"]["holds_at_pace"] is None


def test_the_pace_is_the_mean_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = iter([4.0] * pace.REPEATS + [2.0, 14.0] * (pace.REPEATS // 2))
    monkeypatch.setattr(pace, "_events_per_s", lambda: next(rates) * pace.USUAL_EVENTS_PER_S)
    paces = pace.Paces()
    with paces.around("something"):
        pass
    assert paces.of == {"something": 6.0}


@pytest.mark.parametrize("events", [1, 64, 1000])
def test_the_yardstick_takes_events_in_the_order_of_time(events: int) -> None:
    processes = (pace._process(number) for number in range(pace.PROCESSES))
    instants = [at for one in processes for at in accumulate(islice(one, events))]
    assert pace._run(events) == sorted(instants)[events - 1]


def test_the_budget_table_stands_below_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert "first edition" in shown
    assert "missed" in shown
    assert "not measured" in shown


def test_without_simpy_only_the_comparison_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optical_bench, "find_spec", lambda _: None)
    assert optical_bench._beside_simpy(1e6) == {}


def test_the_llama_job_is_that_of_the_budget() -> None:
    scenario = llama()
    assert scenario.floor.racks == 64
    assert marginal_s(Scenario.preset("tiny"), "all-wired", 1) > 0.0


def test_the_table_shows_nested_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "decision"]) == 0
    assert "p2p.p99_us" in capsys.readouterr().out
    assert flatten({"a": {"b": {"c": 1}}}) == [("a.b.c", 1)]


def test_a_quick_look_at_figures_says_that_nothing_was_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "figures", "--quick"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "nothing was measured" in told.err
