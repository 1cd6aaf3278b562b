"""A policy that knows the future: it tries candidates on copies of the whole simulation.

It answers how well each single event could have been decided, given all decisions before it: the
per-event hindsight oracle, over another policy's action and uniform shares at full power. It costs
one simulation of the event per candidate, so it serves to measure regret, never to coordinate.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from thzsync.coordinator import Action, Context, Outcome, Policy
from thzsync.scenario import Scenario
from thzsync.simulation.engine import Engine
from thzsync.simulation.recorder import Recorder
from thzsync.simulation.records import References, Run
from thzsync.workload import Event

SHARES = (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0)


@dataclass
class _Probe:
    """Takes one given action first, leaves the rest to another policy, and notes the outcome."""

    action: Action
    rest: Policy
    name: str = "probe"
    context: Context | None = None
    outcome: Outcome | None = None

    def decide(self, context: Context) -> Action:
        if self.context is None:
            self.context = context
            return self.action
        return self.rest.decide(context)

    def learn(self, context: Context, action: Action, outcome: Outcome) -> None:
        if context is self.context:
            self.outcome = outcome


@dataclass
class Lookahead:
    """Decides every event by what each candidate would really have cost."""

    rest: Policy
    """Decides the events that follow while a candidate is tried."""
    name: str = field(default="lookahead")
    engine: Engine | None = None

    def decide(self, context: Context) -> Action:
        """The candidate with the best true reward of this event."""
        engine = self.engine
        assert engine is not None
        power = float(context.power_levels[-1])
        uniform = [Action.uniform(context.plan, share, power) for share in SHARES]
        best, best_reward = uniform[0], -float("inf")
        for action in (self.rest.decide(context), *uniform):
            reward = true_reward(engine, engine.activating, action, self.rest)
            if reward > best_reward:
                best, best_reward = action, reward
        return best

    def learn(self, context: Context, action: Action, outcome: Outcome) -> None:
        """Nothing to learn: it knows."""


def true_reward(engine: Engine, event: Event, action: Action, rest: Policy) -> float:
    """What an action would bring, by running a copy of the simulation until the event is over."""
    probe = _Probe(action, rest)
    fork = _fork(engine, probe)
    fork.activate(event)
    fork.settle()
    while probe.outcome is None:
        fork.step()
    return probe.outcome.reward


def _fork(engine: Engine, policy: Policy) -> Engine:
    """A copy that shares what never changes and records into nothing."""
    world = engine.world
    shared = (world.scenario, world.streams, world.topology, world.channel, engine.graph)
    memo: dict[int, object] = {id(part): part for part in shared}
    memo[id(engine.policy)] = policy
    memo[id(engine.recorder)] = Recorder()
    return copy.deepcopy(engine, memo)


def simulate_lookahead(
    scenario: Scenario, seed: int, references: References, rest: Policy, iterations: int = 1
) -> Run:
    """Run iterations in which every event is decided with full knowledge of its outcome."""
    policy = Lookahead(rest)
    engine = Engine(scenario, policy, seed, references)
    policy.engine = engine
    for _ in range(iterations):
        engine.run_iteration()
    return engine.finish(policy.name)
