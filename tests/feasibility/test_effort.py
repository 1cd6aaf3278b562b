"""What a run takes is told before it starts, roughly and in the right order."""

from __future__ import annotations

import pytest

from thzsync.feasibility import effort_of, forewarning
from thzsync.feasibility.effort import REFERENCES, duration_text
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation.simulator import REFERENCE_ITERATIONS

TINY, POD = Scenario.preset("tiny"), Scenario.preset("pod-1024")


def test_larger_jobs_learners_and_more_iterations_take_longer() -> None:
    small, large = effort_of(TINY, 5, learns=False), effort_of(POD, 5, learns=False)
    assert large.seconds > 100 * small.seconds
    assert large.memory_bytes > small.memory_bytes
    assert effort_of(TINY, 5, learns=True).seconds > small.seconds
    longer = effort_of(TINY, 10, learns=False)
    assert longer.disk_bytes == 2 * small.disk_bytes
    assert small.events == 16
    assert REFERENCES == REFERENCE_ITERATIONS


def test_a_short_run_is_not_announced_a_long_one_with_its_remedy() -> None:
    assert forewarning(TINY, 5, False) is None
    told = forewarning(POD, 5, False)
    assert told is not None
    assert "of memory" in told
    assert "on disk" in told
    assert told.endswith("--set optical.fidelity=flow")


def test_flows_are_not_told_to_use_flows() -> None:
    flows = changed(POD, {"optical.fidelity": "flow"}, "test")
    told = forewarning(flows, 50, False, kept=False)
    assert told is not None
    assert "fidelity" not in told
    assert "disk" not in told


def test_a_job_that_ends_early_counts_no_further() -> None:
    short = changed(TINY, {"jobs.0.iterations": 2}, "test")
    assert effort_of(short, 50, learns=True).disk_bytes == effort_of(TINY, 2, True).disk_bytes


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (80, "80 s"), (100, "2 minutes"), (7000, "2 hours"), (3e5, "3 days")],
)
def test_durations_are_for_people(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
