"""What a sweep would take is told in a moment, however long the sweep is."""

from __future__ import annotations

from tests.studies.sweeps import SMALL
from thzsync.scenario import Scenario
from thzsync.studies.estimate import Estimate, estimate
from thzsync.studies.sweeping import plan_sweep


def test_larger_scenarios_take_longer_and_every_run_counts() -> None:
    axes = {"thz.subbands": [2, 4]}
    small, large = (
        estimate(plan_sweep(Scenario.preset(name), SMALL | {"axes": axes}).runs)
        for name in ("tiny", "pod-1024")
    )
    assert (small.runs, small.realisations) == (large.runs, large.realisations) == (8, 4)
    assert large.cpu_s > 10 * small.cpu_s
    assert large.memory_bytes > small.memory_bytes
    longer = estimate(plan_sweep("tiny", SMALL | {"axes": axes, "iterations": 200}).runs)
    assert longer.cpu_s > small.cpu_s
    assert longer.disk_bytes > small.disk_bytes


def test_what_is_known_or_done_costs_nothing() -> None:
    runs = plan_sweep("tiny", SMALL).runs
    known = [run.realisation.reference_key for run in runs]
    assert estimate(runs, known).realisations == 0
    assert estimate(runs, known).cpu_s < estimate(runs).cpu_s
    assert estimate([]) == Estimate(0, 0, 0.0, 0, 0.0)


def test_realisations_that_differ_in_learning_alone_share_their_references() -> None:
    runs = plan_sweep("tiny", SMALL | {"axes": {"coordinator.search": ["uniform", "partial"]}}).runs
    other = plan_sweep("tiny", SMALL | {"axes": {"coordinator.wired_to_thz": [True, False]}}).runs
    assert (estimate(runs).realisations, estimate(other).realisations) == (2, 4)
    assert len({run.key for run in runs}) == len(runs)


def test_what_would_be_in_flows_is_asked_of_every_scenario() -> None:
    plan = plan_sweep(Scenario.preset("pod-1024"), SMALL | {"axes": {"thz.subbands": [2, 4]}})
    assert estimate(plan.runs, (), {"optical.fidelity": "flow"}).cpu_s < estimate(plan.runs).cpu_s
