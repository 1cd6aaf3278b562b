from __future__ import annotations

import numpy as np

from thzsync.collectives import Kind, Plan, Schedule, Transfer
from thzsync.display import html_table, number
from thzsync.simulation import Run


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
    plan = Plan(
        kind=Kind.P2P,
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
        shard=none,
        reduces=np.zeros(1, bool),
        bundled=False,
        stage=none,
    )
    schedule = Schedule(
        plan, np.zeros(2, np.int64), none, none, none, one, none,
        none, 5 * 10**9 * one, 0.1 * np.ones(1), np.ones(1), 0,
    )  # fmt: skip
    shown = schedule._repr_html_()
    assert "0→1" in shown
    assert "completion [ms] <b>5</b>" in shown
