"""What a run takes is told before it starts, roughly and in the right order."""

from __future__ import annotations

import pytest

from thzsync.cli.announcement import forewarning
from thzsync.feasibility import Effort, effort_of
from thzsync.feasibility.effort import REFERENCES
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation.simulator import REFERENCE_ITERATIONS

TINY, PAPER, POD = (Scenario.preset(name) for name in ("tiny", "paper", "pod-1024"))


def in_fidelity(scenario: Scenario, fidelity: str) -> Scenario:
    return changed(scenario, {"optical.fidelity": fidelity}, "test")


def takes(scenario: Scenario, iterations: int, learns: bool = False, kept: bool = True) -> Effort:
    return effort_of(scenario, iterations, learns, kept)


def test_larger_jobs_learners_and_more_iterations_take_longer() -> None:
    small, large = takes(TINY, 5), takes(POD, 5)
    assert large.seconds > 100 * small.seconds
    assert large.memory_bytes > small.memory_bytes
    assert takes(TINY, 5, learns=True).seconds > small.seconds
    longer = takes(TINY, 10)
    assert longer.disk_bytes == 2 * small.disk_bytes
    assert small.events == 16
    assert REFERENCES == REFERENCE_ITERATIONS


# Peak memory of `thzsync run PRESET --policy all-wired` on one machine [MB], read off once.
MEASURED = [
    (PAPER, "packet", 100, False, 251),
    (PAPER, "packet", 100, True, 608),
    (TINY, "packet", 1500, False, 277),
    (POD, "packet", 1, False, 492),
    (POD, "flow", 1, False, 442),
    (POD, "flow", 1, True, 742),
]


@pytest.mark.parametrize(("scenario", "fidelity", "iterations", "kept", "measured_mb"), MEASURED)
def test_memory_is_near_what_was_measured_with_and_without_a_record(
    scenario: Scenario, fidelity: str, iterations: int, kept: bool, measured_mb: float
) -> None:
    told = takes(in_fidelity(scenario, fidelity), iterations, kept=kept).memory_bytes
    assert 0.75 < told / (1e6 * measured_mb) < 1.25


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
def test_a_run_that_is_not_kept_takes_no_disk_and_no_record(fidelity: str) -> None:
    for scenario in (TINY, PAPER, POD):
        kept, shown = (takes(in_fidelity(scenario, fidelity), 100, kept=k) for k in (True, False))
        assert kept.disk_bytes > 0
        assert shown.disk_bytes == 0
        assert shown.memory_bytes < kept.memory_bytes
        assert shown.seconds == kept.seconds


def test_rows_of_a_summary_are_packed_before_they_fill_the_memory() -> None:
    long, longer = (takes(PAPER, iterations, kept=False) for iterations in (10**4, 10**5))
    assert longer.memory_bytes == long.memory_bytes < 1.5e9


def told(scenario: Scenario, iterations: int, kept: bool = True) -> str | None:
    flows = in_fidelity(scenario, "flow")
    own = takes(scenario, iterations, kept=kept)
    return forewarning(own, lambda: takes(flows, iterations, kept=kept))


def test_a_short_run_is_not_announced_a_long_one_with_its_remedy() -> None:
    assert told(TINY, 5) is None
    line = told(POD, 5)
    assert line is not None
    assert line.count("of memory") == 1
    assert "on disk" in line
    assert line.endswith("--set optical.fidelity=flow")


def test_flows_are_not_told_to_use_flows() -> None:
    line = told(in_fidelity(POD, "flow"), 50, kept=False)
    assert line is not None
    assert "fidelity" not in line
    assert "disk" not in line


def test_a_job_that_ends_early_counts_no_further() -> None:
    short = changed(TINY, {"jobs.0.iterations": 2}, "test")
    assert takes(short, 50, learns=True).disk_bytes == takes(TINY, 2, learns=True).disk_bytes
