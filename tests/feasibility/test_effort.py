"""What a run takes is told before it starts, roughly and in the right order."""

from __future__ import annotations

import pytest

from benchmarks.iteration import llama
from thzsync.arrays import size_text
from thzsync.cli.announcement import forewarning
from thzsync.coordinator import make_policy
from thzsync.feasibility import Asked, Effort, effort_of
from thzsync.feasibility.effort import DECIDED_SHARE, REFERENCES
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation.references import REFERENCE_ITERATIONS
from thzsync.streams import Streams

TINY, PAPER, POD = (Scenario.preset(name) for name in ("tiny", "paper", "pod-1024"))
LLAMA = llama()
WHAT = ("seconds", "memory_mb", "disk_mb")


def in_fidelity(scenario: Scenario, fidelity: str) -> Scenario:
    return changed(scenario, {"optical.fidelity": fidelity}, "test")


def takes(scenario: Scenario, iterations: int, learns: bool = False, kept: bool = True) -> Effort:
    share = DECIDED_SHARE if learns else 0.0
    return effort_of(Asked(scenario, iterations, learns, kept, thz_share=share))


def test_larger_jobs_learners_and_more_iterations_take_longer() -> None:
    small, large = takes(TINY, 5), takes(POD, 5)
    more = [takes(scenario, 10).seconds for scenario in (TINY, POD)]  # starting takes both alike
    assert more[1] - large.seconds > 100 * (more[0] - small.seconds)
    assert large.memory_bytes > small.memory_bytes
    assert takes(TINY, 5, learns=True).seconds > small.seconds
    longer = takes(TINY, 10)
    assert longer.disk_bytes == 2 * small.disk_bytes
    assert (small.decisions, small.reference_decisions) == (5 * 16, 3 * 16)
    assert REFERENCES == REFERENCE_ITERATIONS


# `thzsync run` with --policy and --iterations: peak memory [MB], and on disk [MB] if it is kept;
# and CPU seconds times the machine's pace. Read off once (docs/environment.md).
MEASURED = [
    (TINY, "packet", "all-wired", 500, False, 6.3, 233, 0.0),
    (TINY, "packet", "all-wired", 500, True, 16.1, 306, 1.21),
    (TINY, "packet", "thz-sync", 200, True, 12.3, 277, 1.17),
    (PAPER, "packet", "all-wired", 20, False, 5.3, 225, 0.0),
    (PAPER, "packet", "all-wired", 100, True, 29.9, 629, 33.9),
    (PAPER, "packet", "thz-sync", 60, True, 33.9, 582, 25.3),
    (PAPER, "flow", "all-wired", 20, True, 5.7, 378, 6.48),
    (LLAMA, "packet", "all-wired", 2, True, 78.3, 1100, 71.1),
    (LLAMA, "packet", "thz-sync", 3, True, 102.0, 1395, 107.0),
    (LLAMA, "flow", "all-wired", 2, True, 17.1, 986, 63.3),
    (LLAMA, "flow", "all-wired", 6, True, 40.5, 2008, 190.0),
    (LLAMA, "flow", "thz-sync", 4, True, 32.6, 1552, 132.0),
    (POD, "flow", "all-wired", 3, True, 32.3, 1173, 44.2),
    (POD, "flow", "thz-sync", 1, True, 26.0, 954, 12.4),
    (POD, "flow", "thz-sync", 3, True, 75.6, 1792, 37.7),
]


@pytest.mark.parametrize(("scenario", "fidelity", "policy", "iterations", "kept", *WHAT), MEASURED)
def test_time_memory_and_disk_are_near_what_was_measured(
    scenario: Scenario,
    fidelity: str,
    policy: str,
    iterations: int,
    kept: bool,
    seconds: float,
    memory_mb: float,
    disk_mb: float,
) -> None:
    told = takes(in_fidelity(scenario, fidelity), iterations, policy == "thz-sync", kept)
    assert 1 / 1.5 < told.seconds / seconds < 1.5
    assert 1 / 1.2 < told.memory_bytes / (1e6 * memory_mb) < 1.2
    assert told.disk_bytes == pytest.approx(1e6 * disk_mb, rel=0.4)


MOE = changed(
    PAPER,
    {"optical.fidelity": "flow", "jobs.0.training": None, "jobs.0.model": {"name": "mixtral-8x7b"}},
    "test",
)
QUICKEST = {
    "collectives.a2a": "sustained",
    "collectives.allreduce": "streamed-and-ring",
    "collectives.p2p": "striped",
    "coordinator.search": "model-based",
}


@pytest.mark.parametrize(
    ("changes", "policy", "seconds"),
    [  # an iteration with its references; CPU seconds times pace, read off once
        ({}, "all-wired", 6.4),
        ({}, "thz-sync", 9.6),
        ({}, "fixed-ratio", 7.9),
        (QUICKEST, "thz-sync", 24.8),
        ({}, "all-wireless-best", 47.3),
    ],
)
def test_every_chunk_that_thz_sends_by_itself_takes_its_time(
    changes: dict[str, str], policy: str, seconds: float
) -> None:
    """In flow fidelity fibres cost little, and the overlay's rounds are most of a run."""
    scenario = changed(MOE, changes, "test")
    chosen = make_policy(policy, scenario, Streams(0))
    told = effort_of(Asked.of(scenario, chosen, 1, kept=False))
    assert 1 / 1.5 < told.seconds / seconds < 1.5


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
def test_a_run_that_is_not_kept_takes_no_disk_and_no_record(fidelity: str) -> None:
    for scenario in (TINY, PAPER, POD):
        kept, shown = (takes(in_fidelity(scenario, fidelity), 100, kept=k) for k in (True, False))
        assert kept.disk_bytes > 0
        assert shown.disk_bytes == 0
        assert shown.memory_bytes < kept.memory_bytes
        assert shown.seconds < kept.seconds


def test_rows_of_a_summary_are_packed_before_they_fill_the_memory() -> None:
    long, longer = (takes(PAPER, iterations, kept=False) for iterations in (10**4, 10**5))
    assert longer.memory_bytes == long.memory_bytes < 1.5e9


def told(scenario: Scenario, iterations: int, kept: bool = True) -> str | None:
    flows = in_fidelity(scenario, "flow")
    own = takes(scenario, iterations, kept=kept)
    return forewarning(own, lambda: takes(flows, iterations, kept=kept), lambda repeats: 1.0)


def test_a_short_run_is_not_announced_a_long_one_with_its_remedy() -> None:
    assert told(TINY, 5) is None
    line = told(POD, 5)
    assert line is not None
    sizes = [takes(POD, 5).memory_bytes, takes(POD, 5).disk_bytes]
    assert all(size_text(size) in line for size in sizes)
    assert "--set optical.fidelity=flow" in line


def test_a_machine_of_twice_the_pace_is_told_half_the_time() -> None:
    effort = Effort(1, 1, 120.0, 0.0, 1e9, 0.0)
    usual, twice, far = (forewarning(effort, None, lambda _, p=p: p) for p in (1, 2, 8))
    assert "2:00 min" in (usual or "")
    assert "1:00 min" in (twice or "")
    assert far is None


def test_how_fast_this_machine_is_costs_a_short_run_nothing() -> None:
    def refuse(repeats: int) -> float:
        raise AssertionError

    assert forewarning(takes(TINY, 5), None, refuse) is None


def test_flows_are_not_told_to_use_flows() -> None:
    line = told(in_fidelity(POD, "flow"), 50, kept=False)
    assert line is not None
    assert "fidelity" not in line
    assert "disk" not in line


def test_a_job_that_ends_early_counts_no_further() -> None:
    short = changed(TINY, {"jobs.0.iterations": 2}, "test")
    assert (takes(short, 50).decisions, takes(short, 50).reference_decisions) == (2 * 16, 2 * 16)
    assert takes(short, 50, learns=True).disk_bytes == takes(TINY, 2, learns=True).disk_bytes
