"""Exposed communication is what compute did not hide, and not what rounding left."""

from __future__ import annotations

from thzsync import simulate
from thzsync.simulation.rows import exposed_ms


def test_rounding_is_not_exposed() -> None:
    assert exposed_ms(40.00000000000025, 0.04) == 0.0
    assert exposed_ms(39.99999999999975, 0.04) == 0.0
    assert exposed_ms(40.00001, 0.04) == 40.00001 - 40.0


def test_communication_that_nothing_hides_is_exposed() -> None:
    row = simulate("tiny", "all-wired", 1, references={}).iterations.row(0, named=True)
    assert 0 < row["exposed_ms"] < row["makespan_ms"]
