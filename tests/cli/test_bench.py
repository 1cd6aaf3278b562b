from __future__ import annotations

import json
import re
import sys
from itertools import accumulate, islice
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import optical
from benchmarks.budgets import BUDGETS, judged
from benchmarks.budgets import FIGURES as OTHERS
from benchmarks.command import MEASURES, flatten
from benchmarks.iteration import llama, marginal_s
from thzsync.cli import main
from thzsync.cli.bench import SUBJECTS
from thzsync.feasibility import pace
from thzsync.scenario import Scenario

FIGURES = {
    "optical": {"packet_hops_per_s": 9e6, "ratio": 70.0},
    "synthesis": {"a2a_round_us": 200.0},
    "decision": {"p2p": {"p50_us": 150.0, "p99_us": 400.0}, "allreduce": {"p50_us": 900.0}},
    "iteration": {"paper": {"all-wired": 0.2, "thz-sync": 0.5}},
    "contact": {"help_s": 0.2},
    "figures": {"make_run_s": 90.0},
    "peers": {"thzsync": {"packet_hops_per_s": 9e6}},
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
    assert json.loads(capsys.readouterr().out) == FIGURES["optical"]


def test_all_prints_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {*FIGURES, "budgets"}
    for subject, figures in FIGURES.items():
        assert found[subject] == figures


def test_budgets_are_judged_where_something_was_measured() -> None:
    found = {row["what"]: row for row in judged(FIGURES)}
    assert found["optical kernel beside SimPy"]["holds"] is False  # 150 at least
    assert found["decision on an AllReduce, median"]["today"] == 0.9
    assert found["decision on an AllReduce, median"]["holds"] is True
    assert found["make run, 3 seeds, all compiled, 2 cores"]["holds"] is False
    assert found["kernels compiled from nothing, 2 cores"]["holds"] is None
    assert found["iteration of paper, all-wired"]["today"] == 0.2  # shown without a budget
    assert found["iteration of paper, all-wired"]["holds"] is None


def test_every_figure_that_is_shown_or_judged_is_one_that_is_measured() -> None:
    subjects = {row.figure.split(".")[0] for row in (*BUDGETS, *OTHERS)}
    assert subjects <= MEASURES.keys()
    assert MEASURES.keys() == set(SUBJECTS) - {"all"}


def test_without_a_checkout_one_line_says_where_the_benchmarks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thzsync.cli.bench.CHECKOUT", tmp_path)
    assert main(["bench", "optical"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "make bench" in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("events", [1, 64, 1000])
def test_the_yardstick_takes_events_in_the_order_of_time(events: int) -> None:
    processes = (pace.process(number) for number in range(pace.PROCESSES))
    instants = [at for one in processes for at in accumulate(islice(one, events))]
    assert pace.run_events(events) == sorted(instants)[events - 1]


def test_the_budget_table_stands_below_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert all(budget.what.split(",")[0] in shown for budget in BUDGETS)


def test_without_simpy_only_the_comparison_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optical, "find_spec", lambda _: None)
    assert optical.beside_simpy(1e6) == {}


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
    assert told.err.count("\n") == 1


def test_no_figure_is_told_twice() -> None:
    shown = (*BUDGETS, *OTHERS)
    assert len({row.what for row in shown}) == len(shown)
    assert len({row.figure for row in shown}) == len(shown)


def test_the_help_names_every_subject_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["bench", "--help"]) == 0
    words = re.split(r"[^a-z]+", capsys.readouterr().out)
    assert set(SUBJECTS) <= set(words)
    assert main(["bench", "everything"]) == 2
    assert "optical" in capsys.readouterr().err
