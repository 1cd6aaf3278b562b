from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thzsync.collectives import Transfer
from thzsync.display import html_table, number, sparkline
from thzsync.simulation import Run
from thzsync.transfers import Schedule, TransferGraph


def test_a_rising_series_uses_every_bar_once() -> None:
    assert sparkline(range(8)) == "▁▂▃▄▅▆▇█"
    assert sparkline(range(8), plain=True) == "_.-=+*%#"


def test_equal_values_stand_at_half_height_and_gaps_stay_gaps() -> None:
    assert sparkline([2.0, 2.0]) == "▄▄"
    assert sparkline([1.0, float("nan"), 2.0]) == "▁ █"
    assert sparkline([]) == ""
    assert sparkline([float("nan")]) == " "


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(1, 50))
def test_a_sparkline_is_never_wider_than_asked(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) == min(len(values), width)


def test_numbers_read_like_in_a_paper() -> None:
    shown = [number(v) for v in (1049.6, 14.511, -0.54, 0.0, 12, None, float("inf"), "x")]
    assert shown == ["1,050", "14.51", "−0.54", "0", "12", "–", "–", "x"]
    assert number(27.3, pad=True) == "27.30"
    assert number(182.0, 2, pad=True) == "180"
    assert number(0.0, 2, pad=True) == "0"
    assert number(999.96) == "1,000"
    assert number(0.00123456) == "0.001235"
    assert number(1e-7) == "1e-07"


def test_tables_escape_all_text() -> None:
    shown = html_table("<t>", ["<c>"], [["<r>", 1.5]], {"<k>": "<v>"}, "<n>")
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
        thz_chunks=one,
        disciplines=("streaming",),
        discipline=none,
        bundled=np.zeros(1, bool),
        stage=none,
    )
    schedule = Schedule(
        plan, np.zeros(2, np.int64), none, none, none, one, none,
        none, 5 * 10**9 * one, 0.1 * np.ones(1), np.ones(1), none,
    )  # fmt: skip
    shown = schedule._repr_html_()
    assert "0→1" in shown
    assert "completion [ms] <b>5</b>" in shown
