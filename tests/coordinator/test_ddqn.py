from __future__ import annotations

import numpy as np
import pytest

from tests.coordinator.environment import ToyFloor
from thzsync.coordinator import Outcome
from thzsync.coordinator.beam import Head
from thzsync.coordinator.ddqn import DdqnPolicy
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.features import alone, group_flows
from thzsync.coordinator.learning import Flat, View, search_settings
from thzsync.coordinator.replay import Replay
from thzsync.coordinator.search import search, search_each
from thzsync.coordinator.static import ALL_WIRED, FIXED_RATIO
from thzsync.coordinator.training import encode
from thzsync.scenario import Ddqn, Scenario
from thzsync.streams import Streams


def policy_with(**settings: object) -> DdqnPolicy:
    scenario = Scenario.paper()
    chosen = scenario.coordinator.ddqn.model_copy(update=settings)
    coordinator = scenario.coordinator.model_copy(update={"ddqn": chosen})
    return DdqnPolicy(scenario.model_copy(update={"coordinator": coordinator}), Streams(0))


def test_it_learns_to_beat_the_static_policies() -> None:
    floor, events = ToyFloor(3), 330
    rewards = floor.play(policy_with(epsilon_events=120, train_every=24), events)
    for static in (ALL_WIRED, FIXED_RATIO):
        assert rewards[-120:].mean() > floor.play(static, events)[-120:].mean() + 0.05


def test_epsilon_falls_linearly_to_its_end() -> None:
    policy = policy_with(epsilon_start=0.8, epsilon_end=0.2, epsilon_events=10, train_steps=0)
    seen = []
    for event in range(12):
        seen.append(policy.epsilon)
        policy.decide(ToyFloor(0).context(event, "p2p"))
    np.testing.assert_allclose(seen[:11], np.linspace(0.8, 0.2, 11))
    assert seen[11] == pytest.approx(0.2)


def test_the_next_state_is_the_event_activated_next_whatever_completes_first() -> None:
    policy, floor = policy_with(train_steps=0), ToyFloor(0)
    contexts = [floor.context(k, kind) for k, kind in enumerate(("p2p", "a2a", "allreduce"))]
    actions = [policy.decide(context) for context in contexts]
    for k in (2, 0, 1):
        policy.learn(contexts[k], actions[k], Outcome(0, 1.0, 1.0, -0.1 * (k + 1)))
    np.testing.assert_allclose(policy.replay.reward[:3], [-0.1, -0.2, -0.3])
    widths = (policy.replay.group[:3] >= 0).sum(axis=1)
    assert widths.tolist() == [8, 56, 56]  # P2P, then A2A, then AllReduce


def test_a_transition_counts_once_reward_and_next_state_are_there() -> None:
    policy, floor = policy_with(train_steps=0), ToyFloor(0)
    contexts = [floor.context(k, "p2p") for k in range(3)]
    actions = [policy.decide(context) for context in contexts]
    policy.learn(contexts[0], actions[0], Outcome(0, 1.0, 1.0, -0.5))
    policy.learn(contexts[2], actions[2], Outcome(0, 1.0, 1.0, -0.5))
    assert policy._complete_slots().tolist() == [0]


def test_air_times_that_are_kept_are_those_of_the_memory_when_it_wraps_around() -> None:
    """The memory holds eight events; every training looks at air times that it has kept."""
    policy, floor = policy_with(replay=8, train_every=2, train_steps=1, batch=4), ToyFloor(0)
    for k in range(30):
        context = floor.context(k, ("p2p", "a2a")[k % 2])
        policy.learn(context, policy.decide(context), Outcome(context.decision, 1.0, 1.0, -0.5))
    restored = Replay(8, policy.view.columns, policy.levels)
    restored.restore(policy.replay.state())
    kept, afresh = (memory.events(np.arange(8)) for memory in (policy.replay, restored))
    held = kept.group >= 0
    np.testing.assert_array_equal(kept.air[held], afresh.air[held])


def test_the_target_network_values_the_online_networks_choice() -> None:
    """Double Q-learning: with flat online values the choice is known, its value the target's."""
    policy, floor = policy_with(train_steps=0, deviation_cost=0.0), ToyFloor(0)
    for event in range(3):
        policy.decide(floor.context(event, "p2p"))
    size = policy.online.encoder.size
    policy.target = type(policy.online)(policy.online.encoder, np.ones(size))
    following = policy._next_values(np.array([0, 1]))
    events = policy.replay.events(np.array([1, 2]))
    events.rows[:, :, -3:] = 0.0  # all values equal: the search keeps everything on the fibre
    phi = encode(policy.online.encoder, Batch(events.rows, events.group))
    np.testing.assert_allclose(following, phi.sum(axis=1))


@pytest.mark.parametrize("view", [View(4), Flat(4)], ids=["pooled", "flat"])
def test_the_best_actions_of_many_events_are_those_of_each(view: View) -> None:
    settings, draw = Scenario.preset("tiny").coordinator.ddqn, np.random.default_rng(0)
    encoder = view.roomy(view.new_encoder(settings, draw), 7, draw)
    head, levels = Head(draw.normal(size=encoder.size), np.zeros((0, 0)), 0.0), np.array([0.5, 1.0])
    how, contexts = search_settings(settings), view.columns - view.actions
    events = [
        group_flows(
            draw.normal(size=(len(g), contexts)), np.array(g), np.arange(len(g)) + 1, levels
        )
        for g in ([0, 1, 1], [0], [2, 0, 1, 0, 2, 1, 0])
    ]
    memory = Replay(3, view.columns, levels, view.actions)
    for features in events:
        memory.add(features, np.zeros((len(features.rows), view.actions)), 0.0)
    which = [2, 0, 1]
    stored = memory.events(np.array(which))
    counts, level, _ = search_each(encoder, head, stored, levels, how)
    together = view.found(stored, counts, level, levels)
    for number, event in enumerate(which):
        counts, level, _ = search(encoder, head, events[event], levels, how)
        apart = view.found(alone(events[event]), counts[None], level[None], levels)[0]
        np.testing.assert_array_equal(together[number, : len(apart)], apart)


def test_without_discount_the_goal_is_the_reward_alone() -> None:
    policy = policy_with(discount=0.0)
    assert policy._next_values(np.arange(4)).tolist() == [0.0] * 4


def test_the_target_network_follows_every_other_training() -> None:
    policy, floor = policy_with(train_every=4, train_steps=1, target_every=2), ToyFloor(0)
    floor.play(policy, 4)
    assert policy.target is not policy.online
    floor.play(policy, 4)
    assert policy.target is policy.online


def test_random_actions_stop_when_frozen() -> None:
    policy, floor = policy_with(epsilon_start=1.0, epsilon_end=1.0), ToyFloor(0)
    policy.frozen = True
    context = floor.context(0, "a2a")
    first, second = policy.decide(context), policy.decide(context)
    np.testing.assert_array_equal(first.thz_chunks, second.thz_chunks)
    assert len(policy.replay) == 0


def test_an_epsilon_that_rises_is_refused() -> None:
    with pytest.raises(ValueError, match="epsilon_end"):
        Ddqn(epsilon_start=0.1, epsilon_end=0.5)
