"""The per-event oracle: copies of the simulation tell the truth and disturb nothing."""

from __future__ import annotations

import pytest

from thzsync.coordinator import Action, Context
from thzsync.coordinator.static import ALL_WIRED, FIXED_RATIO, StaticPolicy
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate
from thzsync.simulation.engine import Engine
from thzsync.simulation.lookahead import simulate_lookahead, true_reward


class Foreseer:
    """A static policy that asks beforehand what its action will bring."""

    name = "fixed-ratio"
    engine: Engine

    def __init__(self, share: float = 0.5) -> None:
        self.static = StaticPolicy("static", share, 0.5 if share else 0.0)
        self.foreseen: list[float] = []

    def decide(self, context: Context) -> Action:
        action = self.static.decide(context)
        self.foreseen.append(true_reward(self.engine, self.engine.activating, action, self.static))
        return action

    def learn(self, *_: object) -> None: ...


def test_a_copy_knows_what_else_happens_at_the_same_instant() -> None:
    """Two stages that end together activate two events at once; both must be in the copy."""
    references = {"p2p": (1e-3, 0.1), "a2a": (1e-3, 0.1), "allreduce": (1e-3, 0.1)}
    tiny = Scenario.preset("tiny")
    for seed in range(3):
        for share in (0.0, 0.25):
            policy = Foreseer(share)
            engine = Engine(tiny, policy, seed, references)
            policy.engine = engine
            engine.run_iteration()
            happened = engine.finish("test").events.sort("number")["reward"].to_list()
            assert policy.foreseen == pytest.approx(happened, rel=1e-12)


def test_what_a_copy_foresees_is_what_happens() -> None:
    tiny = Scenario.preset("tiny")
    references = reference_costs(tiny, 3)
    plain = simulate(tiny, FIXED_RATIO, 1, 3, references)
    policy = Foreseer()
    engine = Engine(tiny, policy, 3, references)
    policy.engine = engine
    engine.run_iteration()
    watched = engine.finish("fixed-ratio")
    assert watched.events.equals(plain.events)  # looking ahead leaves no trace
    happened = watched.events.sort("number")["reward"].to_list()
    assert policy.foreseen == pytest.approx(happened, rel=1e-12)


def test_knowing_the_outcome_beats_every_fixed_policy() -> None:
    tiny = Scenario.preset("tiny")
    references = reference_costs(tiny, 0)
    best = simulate_lookahead(tiny, 0, references, ALL_WIRED).summary["reward"]
    for policy in ("all-wired", "all-wireless", "fixed-ratio"):
        assert best > simulate(tiny, policy, 1, 0, references).summary["reward"]
