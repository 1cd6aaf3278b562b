"""What one decision costs: features, beam search and action, on the paper's own events."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from thzsync.coordinator import Policy, Situation, make_policy
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.world import World
from thzsync.streams import Streams
from thzsync.workload import job_graph

DECISIONS: Final = 300
TRAINING_ITERATIONS: Final = 2
"""Long enough to leave the warm-up behind, in which nothing is searched."""
KINDS: Final = ("p2p", "a2a", "allreduce")


def measure() -> dict[str, Any]:
    """Median and 99th percentile of the CPU time of a decision, per collective type [us]."""
    scenario, seed = Scenario.paper(), 0
    policy = make_policy("thz-sync", scenario, Streams(seed))
    simulate(scenario, policy, TRAINING_ITERATIONS, seed)
    return {k: figures_of(policy, situations(scenario, seed, k)) for k in KINDS}


def situations(scenario: Scenario, seed: int, kind: str) -> list[Situation]:
    """The states in which the events of one iteration could find the floor, spread over time."""
    world = World.build(scenario, seed)
    graph = job_graph(scenario.jobs[0], world.topology, world.streams, 0)
    events = [event for event in graph.events if event.kind == kind]
    found = []
    for number in range(DECISIONS):
        event, now_ps = events[number % len(events)], number * 10**10
        delays = world.event_delays_ps(event, number, now_ps)
        offer = world.offer(event, delays, now_ps)
        found.append(world.situation(number, offer, delays, now_ps, (1.0, 1.0)))
    return found


def figures_of(policy: Policy, situations: list[Situation]) -> dict[str, Any]:
    policy.decide(situations[0])
    spent_us = np.empty(len(situations))
    for number, situation in enumerate(situations):
        start = time.thread_time_ns()
        policy.decide(situation)
        spent_us[number] = (time.thread_time_ns() - start) * 1e-3
    p50, p99 = np.percentile(spent_us, [50, 99])
    return {"p50_us": float(p50), "p99_us": float(p99)}
