from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from tests.report.results import HOSTILE_SCENARIO
from thzsync.auditor.findings import Audit, Violation
from thzsync.collectives import Transfer
from thzsync.display import html_table, number
from thzsync.experiments.compare import Comparison
from thzsync.experiments.single_ring import synthesize
from thzsync.scenario import Scenario
from thzsync.simulation import Run
from thzsync.transfers import Schedule, TransferGraph


def test_tables_escape_all_text() -> None:
    shown = html_table("<t>", ["<c>"], [["<r>"]], {"<k>": "<v>"}, "<n>")
    for name in "tcrkvn":
        assert f"<{name}>" not in shown
        assert f"&lt;{name}&gt;" in shown


def test_a_run_shows_itself(run: Run) -> None:
    shown = run._repr_html_()
    assert "fixed-ratio" in shown
    assert number(run.summary["energy_j"]) in shown


def test_a_schedule_shows_its_rounds() -> None:
    none, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    plan = TransferGraph(
        kind="p2p",
        method="proposed",
        racks=np.array([0, 1]),
        demand=Transfer.of(0, 1, 1000),
        src=none,
        dst=one,
        flow_bytes=1000 * one,
        chunk_bytes=1000,
        after_start=np.zeros(2, np.int64),
        after=np.zeros(0, np.int64),
        local=np.ones(1, bool),
        block=none,
        shard=none,
        reduces=np.zeros(1, bool),
        carried=one,
        disciplines=("streaming",),
        discipline=none,
        bundled=np.zeros(1, bool),
        stage=none,
    )
    schedule = Schedule(
        plan, np.zeros(2, np.int64), none, none, none, one, none,
        none, 5 * 10**9 * one, 0.1 * np.ones(1), np.ones(1), none, np.ones(1),
    )  # fmt: skip
    shown = schedule._repr_html_()
    assert "0→1" in shown
    assert "<b>5</b>" in shown


def test_a_run_and_a_comparison_are_one_short_line(run: Run, comparison: Comparison) -> None:
    events = run.events.height
    name = repr(HOSTILE_SCENARIO)
    assert repr(run) == f"Run(fixed-ratio on {name}, seed=0, iterations=1, events={events})"
    policies = "fixed-ratio, all-wired, all-wireless"
    assert repr(comparison) == f"Comparison({policies} on {name}, seeds=2, iterations=3)"


def test_a_schedule_a_scenario_and_an_audit_are_one_short_line() -> None:
    schedule = synthesize("a2a", 4, size_bytes="4 MiB")
    took = f"{schedule.completion_ps * 1e-9:.6g}"
    rounds = schedule.rounds
    assert repr(schedule) == (
        f"Schedule(a2a proposed, racks=4, rounds={rounds}, completion_ms={took})"
    )
    assert repr(Scenario.paper()) == "Scenario('paper', racks=32, jobs=[train])"
    assert str(Scenario.paper()) == repr(Scenario.paper())
    verdict = Audit({"half_duplex": 3000, "power_cap": 0}, [])
    assert repr(verdict).startswith("Audit(2 checks, 3,000 facts, ")
    broken = replace(verdict, violations=[Violation("power_cap", "here", "so")] * 2)
    assert "power_cap" in repr(broken)
    assert "power_cap" not in repr(verdict)


def test_a_comparison_shows_every_policy_with_its_interval(comparison: Comparison) -> None:
    shown = comparison._repr_html_()
    for row in comparison.rows():
        assert row["policy"] in shown
        assert f"± {number(row['ci95_completion_ms'], 2, pad=True)}" in shown
    assert "font-weight:bold" in shown
    assert HOSTILE_SCENARIO not in shown


def test_a_scenario_shows_its_parts() -> None:
    shown = Scenario.paper()._repr_html_()
    for fact in ("32", "4", "5 GHz", "8", "0.7"):
        assert re.search(rf"(?<![\d.]){fact}(?![\d.])", shown), fact


def test_an_audit_shows_its_verdict_and_what_broke() -> None:
    verdict = Audit({"half_duplex": 3, "power_cap": 0}, [])
    assert re.search(r"\b3\b", verdict._repr_html_())
    broken = replace(
        verdict, violations=[Violation("half_duplex", "round <1>", "two at once")] * 22
    )
    shown = broken._repr_html_()
    assert shown.count("round &lt;1&gt;") == 20
    assert re.search(r"\b2\b", shown), "so many are left out"
