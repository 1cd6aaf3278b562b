"""What every policy must do, whoever wrote it (conformance of the policy family)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.coordinator.environment import LEVELS, RACKS, ToyFloor, make_plan
from thzsync.coordinator import Outcome, Policy, Situation, make_policy, policy_names
from thzsync.scenario import Scenario
from thzsync.streams import Streams
from thzsync.synthesis import Offer
from thzsync.transfers import TransferGraph

KINDS = ("p2p", "a2a", "allreduce")


@pytest.fixture(params=policy_names())
def policy(request: pytest.FixtureRequest) -> Policy:
    return make_policy(request.param, Scenario.paper(), Streams(5))


def context_of(plan: TransferGraph, gain_db: float) -> Situation:
    return Situation(
        decision=0,
        offer=Offer.per_flow(plan),
        racks=RACKS,
        straggler=np.zeros(plan.flows, dtype=np.bool_),
        queued_bytes=np.zeros(plan.flows),
        shared_occupancy=np.zeros(plan.flows),
        snr_db_per_w=np.full((plan.flows, 4), gain_db),
        power_levels=LEVELS,
    )


def test_every_action_is_valid_while_it_learns(policy: Policy) -> None:
    ToyFloor(0).play(policy, 40)  # the floor checks every action


def test_an_event_without_flows_gets_an_empty_action(policy: Policy) -> None:
    empty = context_of(make_plan("a2a", [], [], []), 25.0)
    action = policy.decide(empty)
    action.check(empty)
    policy.learn(empty, action, Outcome(empty.decision, 0.0, 0.0, 0.0))


def test_blocked_links_still_get_a_valid_action(policy: Policy) -> None:
    ToyFloor(0).play(policy, 30)
    for gain_db in (-np.inf, -300.0, 400.0):
        context = context_of(ToyFloor(0).plans["a2a"], gain_db)
        policy.decide(context).check(context)


def test_a_flow_of_one_chunk_and_a_single_flow_are_events_too(policy: Policy) -> None:
    context = context_of(make_plan("p2p", [3], [7], [1]), 25.0)
    policy.decide(context).check(context)


def test_the_same_seed_decides_the_same(policy: Policy) -> None:
    twin = make_policy(policy.name, Scenario.paper(), Streams(5))
    first, second = (ToyFloor(0).play(p, 75) for p in (policy, twin))
    np.testing.assert_array_equal(first, second)


def test_outcomes_may_come_late_and_in_another_order(policy: Policy) -> None:
    floor = ToyFloor(0)
    contexts = [floor.context(k, kind) for k, kind in enumerate(list(KINDS) * 12)]
    actions = [policy.decide(context) for context in contexts]
    for k in np.random.default_rng(0).permutation(len(contexts)):
        policy.learn(contexts[k], actions[k], floor.outcome(int(k), contexts[k], actions[k]))
    policy.decide(contexts[0]).check(contexts[0])


@pytest.mark.parametrize("levels", [(0.3,), (0.1, 0.45, 0.8), (0.5, 1.0)])
def test_every_policy_keeps_to_the_levels_that_the_scenario_offers(
    policy: Policy, levels: tuple[float, ...]
) -> None:
    """All-Wireless once asked for full power wherever the scenario ended below it."""
    plan = make_plan("a2a", [0, 1], [1, 0], [2**20, 2**20])
    context = replace(context_of(plan, 25.0), power_levels=np.array(levels))
    policy.decide(context).check(context)
