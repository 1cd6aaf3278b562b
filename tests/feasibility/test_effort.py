"""What a run takes is told before it starts, roughly and in the right order."""

from __future__ import annotations

from thzsync.cli.announcement import forewarning
from thzsync.feasibility import effort_of
from thzsync.feasibility.effort import REFERENCES
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


def told(scenario: Scenario, iterations: int, kept: bool = True) -> str | None:
    flows = changed(scenario, {"optical.fidelity": "flow"}, "test")
    own = effort_of(scenario, iterations, learns=False)
    return forewarning(own, lambda: effort_of(flows, iterations, learns=False), kept)


def test_a_short_run_is_not_announced_a_long_one_with_its_remedy() -> None:
    assert told(TINY, 5) is None
    line = told(POD, 5)
    assert line is not None
    assert "of memory" in line
    assert "on disk" in line
    assert line.endswith("--set optical.fidelity=flow")


def test_flows_are_not_told_to_use_flows() -> None:
    line = told(changed(POD, {"optical.fidelity": "flow"}, "test"), 50, kept=False)
    assert line is not None
    assert "fidelity" not in line
    assert "disk" not in line


def test_a_job_that_ends_early_counts_no_further() -> None:
    short = changed(TINY, {"jobs.0.iterations": 2}, "test")
    assert effort_of(short, 50, learns=True).disk_bytes == effort_of(TINY, 2, True).disk_bytes
