"""What a sweep would take is told in a moment, however long the sweep is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.sweeps import SMALL
from thzsync.experiments import store
from thzsync.experiments.compare import tasks_of
from thzsync.experiments.estimate import START_S, Estimate, estimate
from thzsync.experiments.store import Store
from thzsync.scenario import Scenario
from thzsync.studies.sweeping import plan_sweep


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FOUND", {})


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


def test_what_is_known_or_done_costs_nothing(tmp_path: Path) -> None:
    runs = plan_sweep("tiny", SMALL).runs
    known = Store(tmp_path)
    before = estimate(runs, known)
    for run in runs:
        known.keep_references(run.references, {"p2p": (1.0, 1.0)})
    assert (before.realisations, estimate(runs, known).realisations) == (4, 0)
    assert estimate(runs, known).cpu_s < before.cpu_s
    assert estimate([]) == Estimate(0, 0, 0.0, 0, 0.0)


def test_realisations_that_differ_in_learning_alone_share_their_references() -> None:
    runs = plan_sweep("tiny", SMALL | {"axes": {"coordinator.search": ["uniform", "partial"]}}).runs
    other = plan_sweep("tiny", SMALL | {"axes": {"coordinator.wired_to_thz": [True, False]}}).runs
    assert (estimate(runs).realisations, estimate(other).realisations) == (2, 4)
    assert len({run.key for run in runs}) == len(runs)


def test_what_would_be_in_flows_is_asked_of_every_scenario() -> None:
    plan = plan_sweep(Scenario.preset("pod-1024"), SMALL | {"axes": {"thz.subbands": [2, 4]}})
    assert estimate(plan.runs, None, {"optical.fidelity": "flow"}).cpu_s < estimate(plan.runs).cpu_s


def test_workers_share_the_time_but_none_idles() -> None:
    tasks = tasks_of(Scenario.preset("tiny"), ("all-wired", "thz-sync"), (0, 1), 20)
    cost = estimate(tasks)
    one, two, many = (cost.wall_s(workers) - START_S for workers in (1, 2, 99))
    assert one == cost.cpu_s
    assert two == pytest.approx(one / 2)
    assert many == pytest.approx(one / 4)


def test_references_are_paid_once_per_seed_and_runs_once_each() -> None:
    tiny = Scenario.preset("tiny")
    few, more, learning = (
        estimate(tasks_of(tiny, policies, (0, 1), 20)).cpu_s
        for policies in (("all-wired",), ("all-wired", "all-wired-best"), ("thz-sync",))
    )
    assert few < more < 2 * few
    assert learning > few
