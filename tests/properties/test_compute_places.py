"""Property 5, compute: a task belongs to racks or to a rank; the bubble is their idle share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.traces import task, traced
from thzsync.auditor import audit
from thzsync.coordinator.static import ALL_WIRED
from thzsync.simulation import simulate
from thzsync.simulation.metrics import bubble
from thzsync.workload import Compute


def simulated_bubble(folder: Path, tasks: list[Compute]) -> float:
    run = simulate(traced(folder, tasks), ALL_WIRED, 1, references={})
    assert audit(run).violations == []
    return float(run.iterations["bubble"].item())


def test_one_task_per_rank_leaves_idle_what_the_longest_outlasts_the_others(tmp_path: Path) -> None:
    """Four ranks of one rack compute 1, 2, 3 and 4 ms: 10 of 16 ms are used."""
    tasks = [task(k, (k + 1) * 1e-3, racks=[2], rank=k) for k in range(4)]
    assert simulated_bubble(tmp_path, tasks) == pytest.approx(6 / 16, rel=1e-9)


def test_overlapping_tasks_of_one_rank_count_once(tmp_path: Path) -> None:
    """0..4 ms and, within it, 0..1, 1..2 and 2..4 ms: the rank is never idle."""
    tasks = [
        task(0, 4e-3, rank=0),
        task(1, 1e-3, rank=0),
        task(2, 1e-3, after=[1], rank=0),
        task(3, 2e-3, after=[2], rank=0),
    ]
    assert simulated_bubble(tmp_path, tasks) == pytest.approx(0.0, abs=1e-12)


def test_a_gap_counts_for_every_rack_of_the_tasks_around_it(tmp_path: Path) -> None:
    """Racks 0 and 1 for 1 ms, then rack 2 for 3 ms: 5 of 12 ms are used."""
    tasks = [task(0, 1e-3, racks=[0, 1]), task(1, 3e-3, after=[0], racks=[2])]
    assert simulated_bubble(tmp_path, tasks) == pytest.approx(7 / 12, rel=1e-9)


def test_ranks_are_not_racks(tmp_path: Path) -> None:
    """Rank 0 and rack 0 are two places, also where their numbers are the same."""
    tasks = [task(0, 1e-3, racks=[0], rank=0), task(1, 1e-3, after=[0], racks=[0])]
    assert simulated_bubble(tmp_path, tasks) == pytest.approx(1 / 2, rel=1e-9)


PLACES = st.one_of(
    st.tuples(st.just([0]), st.integers(0, 3)),
    st.tuples(st.lists(st.integers(0, 3), min_size=1, unique=True).map(sorted), st.none()),
)
SPANS = st.tuples(st.integers(0, 19), st.integers(1, 20), PLACES)


@given(st.lists(SPANS, min_size=1, max_size=12))
def test_the_bubble_is_the_share_of_idle_picoseconds(
    spans: list[tuple[int, int, tuple[list[int], int | None]]],
) -> None:
    """Counted one by one: every place in every picosecond of the iteration."""
    computed = [
        (task(0, 0.0, racks=racks, rank=rank), start, start + length)
        for start, length, (racks, rank) in spans
    ]
    makespan_ps = max(end for _, _, end in computed)
    busy = {
        (place, instant)
        for work, start, end in computed
        for place in places(work)
        for instant in range(start, end)
    }
    known = {place for work, _, _ in computed for place in places(work)}
    expected = 1 - len(busy) / (len(known) * makespan_ps)
    found = bubble(computed, makespan_ps)
    assert found == pytest.approx(expected, abs=1e-12)
    assert 0 <= found < 1


def places(work: Compute) -> list[str]:
    if work.rank is not None:
        return [f"rank {work.rank}"]
    return [f"rack {rack}" for rack in work.racks]
