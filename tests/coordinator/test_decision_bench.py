from __future__ import annotations

import pytest

from benchmarks import decision
from thzsync.coordinator.static import FIXED_RATIO
from thzsync.scenario import Scenario

KINDS = ("p2p", "a2a", "allreduce")


def test_decisions_are_measured_on_the_papers_own_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "DECISIONS", 3)
    widths = {}
    for kind in KINDS:
        contexts = decision.situations(Scenario.paper(), 0, kind)
        widths[kind] = (contexts[0].units, int(contexts[0].offer.chunks.max()))
        figures = decision.figures_of(FIXED_RATIO, contexts)
        assert 0 < figures["p50_us"] <= figures["p99_us"]
    assert widths == {"p2p": (8, 32), "a2a": (56, 4), "allreduce": (56, 64)}


def test_the_trained_policy_is_past_its_warm_up() -> None:
    """Otherwise the bench would time uniform actions instead of the search."""
    warm_up = Scenario.paper().coordinator.bandit.warm_up
    fewest_events_per_iteration = 16  # AllReduce
    assert decision.TRAINING_ITERATIONS * fewest_events_per_iteration > warm_up
