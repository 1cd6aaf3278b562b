from __future__ import annotations

import pytest

from thzsync.collectives import Kind
from thzsync.coordinator.static import FIXED_RATIO
from thzsync.experiments import bench_decision
from thzsync.scenario import Scenario


def test_decisions_are_measured_on_the_papers_own_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_decision, "DECISIONS", 3)
    widths = {}
    for kind in Kind:
        contexts = bench_decision._contexts(Scenario.paper(), 0, kind)
        widths[kind] = (contexts[0].flows, int(contexts[0].plan.chunks.max()))
        figures = bench_decision._figures(FIXED_RATIO, kind, contexts)
        assert 0 < figures["p50_us"] <= figures["p99_us"]
    assert widths == {Kind.P2P: (8, 32), Kind.A2A: (56, 4), Kind.ALLREDUCE: (56, 64)}


def test_the_trained_policy_is_past_its_warm_up() -> None:
    """Otherwise the bench would time uniform actions instead of the search."""
    warm_up = Scenario.paper().coordinator.bandit.warm_up
    fewest_events_per_iteration = 16  # AllReduce
    assert bench_decision.TRAINING_ITERATIONS * fewest_events_per_iteration > warm_up
