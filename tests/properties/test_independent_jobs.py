"""Property 5: whatever becomes of job b, job a draws the same and keeps its own clock."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from thzsync.auditor import audit
from thzsync.coordinator.static import FIXED_RATIO
from thzsync.scenario.files import build_scenario
from thzsync.simulation import Run, simulate

TRAINING = {
    "microbatches": 2,
    "p2p_bytes": 300_000,
    "a2a_bytes_per_rack": 500_000,
    "a2a_skew": 1.0,
    "moe_stages": [0, 1],
    "allreduce_bytes": 400_000,
    "allreduce_buckets": 1,
    "forward_s": 1e-3,
    "backward_s": 2e-3,
}
A = {"name": "a", "first_lane": 0, "lanes": 3, "training": TRAINING}
B = {"name": "b", "first_lane": 3, "lanes": 3, "training": TRAINING}
FLOOR = {"rings": 2, "slots_per_ring": 6}
LATE = {"probability": 0.3, "min_delay_s": 1e-4, "max_delay_s": 2e-3}
ITERATIONS = 3

OTHERS = {
    "absent": [],
    "beside it": [B],
    "of another name": [B | {"name": "z"}],
    "with other work": [B | {"training": TRAINING | {"microbatches": 5, "a2a_skew": 0.3}}],
    "ended early": [B | {"iterations": 1}],
    "delayed": [B | {"start_s": 0.004}],
}


def run_of(*jobs: dict[str, Any]) -> Run:
    scenario = build_scenario({"floor": FLOOR, "stragglers": LATE, "jobs": list(jobs)}, "test")
    run = simulate(scenario, FIXED_RATIO, ITERATIONS, seed=6, references={})
    assert audit(run).violations == []
    return run


def drawn(run: Run, job: str) -> pl.DataFrame:
    """What chance decided for a job: who is late by how much, and who sends how much to whom."""
    key = ["iteration", "node"]
    events = run.events.filter(pl.col("job") == job)
    flows = run.flows.sort("number", "flow").group_by("number", maintain_order=True)
    demand = flows.agg("src", "dst", "bytes")
    return events.join(demand, on="number").sort(key).select(
        *key, "kind", "delay_ps", "src", "dst", "bytes"
    )  # fmt: skip


def iterations(run: Run, job: str) -> pl.DataFrame:
    return run.iterations.filter(pl.col("job") == job).sort("iteration")


@pytest.fixture(scope="module")
def alone() -> Run:
    return run_of(A)


@pytest.mark.parametrize("others", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("first", [True, False], ids=["listed first", "listed last"])
def test_no_other_job_changes_a_draw(alone: Run, others: list[dict], first: bool) -> None:
    run = run_of(A, *others) if first else run_of(*others, A)
    expected = drawn(alone, "a")
    assert drawn(run, "a").equals(expected)
    assert any(any(row) for row in expected["delay_ps"].to_list())


def test_jobs_alike_are_not_late_alike() -> None:
    run = run_of(A, B)
    a, b = (drawn(run, job)["delay_ps"].to_list() for job in "ab")
    assert len(a) == len(b)
    assert a != b


def test_a_short_job_does_not_wait_for_a_long_one() -> None:
    """Each iteration begins when the job's last one ends; the short job is through long before."""
    slow = B | {"training": TRAINING | {"forward_s": 0.1, "backward_s": 0.2}}
    run = run_of(A, slow)
    short, long = iterations(run, "a"), iterations(run, "b")
    for job in (short, long):
        assert job["start_ps"].to_list() == [0, *job["end_ps"].to_list()[:-1]]
    assert short["end_ps"].max() < long["end_ps"].min()


def test_every_job_counts_its_own_iterations() -> None:
    run = run_of(
        A,
        B | {"iterations": 1},
    )
    assert iterations(run, "a")["iteration"].to_list() == list(range(ITERATIONS))
    assert iterations(run, "b")["iteration"].to_list() == [0]


def test_a_job_that_arrives_later_begins_at_its_start() -> None:
    run = run_of(A, B | {"start_s": 0.004})
    assert iterations(run, "a")["start_ps"][0] == 0
    assert iterations(run, "b")["start_ps"][0] == 4_000_000_000
    assert run.tables["tasks"].filter(pl.col("job") == "b")["start_ps"].min() == 4_000_000_000


def test_events_of_an_iteration_cost_the_job_whose_they_are() -> None:
    run = run_of(A, B)
    for job in "ab":
        mine = run.events.filter(pl.col("job") == job).group_by("iteration").agg(
            pl.col("completion_ms").sum()
        ).sort("iteration")  # fmt: skip
        told = iterations(run, job)["completion_ms"].to_list()
        assert mine["completion_ms"].to_list() == pytest.approx(told)
