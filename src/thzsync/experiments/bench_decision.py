"""What one decision costs: features, beam search and action, on the paper's own events."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from thzsync.collectives import Kind
from thzsync.coordinator import Context, Policy, make_policy
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.world import World
from thzsync.streams import Streams
from thzsync.workload import scenario_graph

DECISIONS: Final = 300
TRAINING_ITERATIONS: Final = 2
"""Long enough to leave the warm-up behind, in which nothing is searched."""
BUDGET_US: Final = {Kind.P2P: 500.0, Kind.A2A: 3000.0, Kind.ALLREDUCE: 3000.0}


def measure() -> dict[str, Any]:
    """Median and 99th percentile of the CPU time of a decision, per collective type [us]."""
    scenario, seed = Scenario.paper(), 0
    policy = make_policy("thz-sync", scenario, Streams(seed))
    simulate(scenario, policy, TRAINING_ITERATIONS, seed)
    return {kind.value: _figures(policy, kind, _contexts(scenario, seed, kind)) for kind in Kind}


def _contexts(scenario: Scenario, seed: int, kind: Kind) -> list[Context]:
    """The states in which the events of one iteration could find the floor, spread over time."""
    world = World.build(scenario, seed)
    graph = scenario_graph(scenario, world.topology, world.streams, 0)
    events = [event for event in graph.events if event.kind is kind]
    contexts = []
    for number in range(DECISIONS):
        event, now_ps = events[number % len(events)], number * 10**10
        delays = world.delays_ps(event, number, now_ps)
        contexts.append(world.context(world.synthesize(event, delays, now_ps), delays, now_ps))
    return contexts


def _figures(policy: Policy, kind: Kind, contexts: list[Context]) -> dict[str, Any]:
    policy.decide(contexts[0])
    spent_us = np.empty(len(contexts))
    for number, context in enumerate(contexts):
        start = time.thread_time_ns()
        policy.decide(context)
        spent_us[number] = (time.thread_time_ns() - start) * 1e-3
    p50, p99 = np.percentile(spent_us, [50, 99])
    return {
        "p50_us": float(p50),
        "p99_us": float(p99),
        "p50_budget_us": BUDGET_US[kind],
        "p50_within_budget": bool(p50 <= BUDGET_US[kind]),
    }
