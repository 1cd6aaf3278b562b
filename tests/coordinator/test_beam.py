from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.beam_search import (
    every_action,
    representation,
    slow_search,
    ucb,
    uniform_actions,
)
from thzsync.arrays import FloatArray
from thzsync.coordinator.beam import Head
from thzsync.coordinator.encoder import Batch, Encoder, random_encoder
from thzsync.coordinator.features import ACTION_COLUMNS, Features, columns, group_flows
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.replay import Replay
from thzsync.coordinator.search import Search, search, search_each
from thzsync.coordinator.training import encode

SUBBANDS = 2
LEVELS = np.array([0.5, 1.0])


def random_event(
    seed: int, flows: int = 3, senders: int = 2, chunks: int = 3
) -> tuple[Encoder, Head, Features]:
    """A random encoder, a posterior after some random samples, and a random context."""
    draw = np.random.default_rng(seed)
    encoder = random_encoder(columns(SUBBANDS), 6, 5, draw)
    posterior = LinearHead(encoder.size, 0.5)
    for phi in draw.uniform(0, 2, (8, encoder.size)):
        posterior.update(phi, float(draw.normal()))
    head = Head(posterior.weights, posterior.inverse_factor, 0.3)
    rows = draw.normal(0.0, 0.5, (flows, columns(SUBBANDS) - 3))
    group = np.concatenate((np.arange(senders), draw.integers(senders, size=flows - senders)))
    counts = draw.integers(1, chunks + 1, flows)
    return encoder, head, group_flows(rows, group, counts, LEVELS)


def taken(counts: Any, level: Any, features: Features) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(map(int, counts)), tuple(map(int, level))


@given(
    seed=st.integers(0, 10**6),
    flows=st.integers(2, 5),
    width=st.integers(1, 4),
    count_levels=st.integers(2, 5),
    cost=st.sampled_from([0.0, 0.02]),
    partial=st.booleans(),
)
def test_the_kernel_finds_what_the_readable_search_finds(
    seed: int, flows: int, width: int, count_levels: int, cost: float, partial: bool
) -> None:
    encoder, head, features = random_event(seed, flows=flows)
    how = Search(count_levels, width, cost, partial)
    counts, level, score = search(encoder, head, features, LEVELS, how)
    action, slow_score = slow_search(encoder, head, features, LEVELS, how)
    assert score == pytest.approx(slow_score, abs=1e-9)
    assert taken(counts, level, features) == action


def test_the_uncompiled_kernel_decides_the_same(uncompiled_search: ModuleType) -> None:
    encoder, head, features = random_event(7, flows=4)
    how = Search(4, 3, 0.01)
    compiled = search(encoder, head, features, LEVELS, how)
    uncompiled = uncompiled_search.search(encoder, head, features, LEVELS, how)
    assert taken(*compiled[:2], features) == taken(*uncompiled[:2], features)
    assert compiled[2] == pytest.approx(uncompiled[2], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_score_equals_the_plain_evaluation(seed: int) -> None:
    encoder, head, features = random_event(seed, flows=6, senders=3, chunks=9)
    counts, level, score = search(encoder, head, features, LEVELS, Search(4, 3, 0.0))
    phi = encode(encoder, as_batch(features, counts, level))[0]
    assert score == pytest.approx(ucb(head, phi), abs=1e-6)


def as_batch(features: Features, counts: Any, level: Any) -> Batch:
    share = counts / features.chunks
    air = share * features.air[np.arange(len(counts)), level[features.group]]
    action = np.column_stack((share, air, air * LEVELS[level[features.group]]))
    rows = np.concatenate((features.rows, action), axis=1)
    return Batch(rows[None], features.group[None])


def test_the_search_seldom_misses_the_exhaustive_optimum_and_then_loses_little() -> None:
    found, loss = [], []
    for seed in range(60):
        encoder, head, features = random_event(seed)
        scores = all_scores(encoder, head, features)
        best = search(encoder, head, features, LEVELS, Search(5, 4, 0.0))[2]
        spread = max(scores) - min(scores)
        loss.append((max(scores) - best) / spread if spread else 0.0)
        found.append(loss[-1] < 1e-9)
    assert np.mean(found) >= 0.9
    assert np.mean(loss) <= 0.01
    assert max(loss) <= 0.1


def all_scores(encoder: Encoder, head: Head, features: Features) -> list[float]:
    return [
        ucb(head, representation(encoder, features, LEVELS, action, slots=len(features.chunks)))
        for action in every_action(features, LEVELS)
    ]


@given(seed=st.integers(0, 10**6))
def test_a_wider_beam_never_ends_below_the_best_uniform_action(seed: int) -> None:
    encoder, head, features = random_event(seed, flows=4)
    uniform = search(encoder, head, features, LEVELS, Search(5, 1, 1e9))[2]
    assert search(encoder, head, features, LEVELS, Search(5, 4, 0.0))[2] >= uniform - 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_a_prohibitive_deviation_cost_leaves_the_uniform_action(seed: int) -> None:
    encoder, head, features = random_event(seed, flows=5)
    even = features._replace(chunks=np.full(5, 8))
    counts, level, score = search(encoder, head, even, LEVELS, Search(5, 4, 1e9))
    assert len(set(counts.tolist())) == 1
    assert len(set(level.tolist())) == 1
    assert np.isfinite(score)


def test_ties_go_to_the_smallest_action_with_the_highest_power() -> None:
    encoder, head, features = random_event(1)
    flat = Head(np.zeros_like(head.weights), np.zeros_like(head.inverse_factor), 0.0)
    counts, level, score = search(encoder, flat, features, LEVELS, Search(5, 4, 0.0))
    assert counts.tolist() == [0, 0, 0]
    assert level.tolist() == [1, 1]
    assert score == 0.0


def test_scores_that_are_not_numbers_leave_everything_on_the_fibre() -> None:
    encoder, head, features = random_event(1)
    broken = head._replace(weights=np.full_like(head.weights, np.nan))
    counts, _, _ = search(encoder, broken, features, LEVELS, Search(5, 4, 0.0))
    assert counts.tolist() == [0, 0, 0]


def test_more_power_is_chosen_when_only_air_time_costs() -> None:
    _, _, features = random_event(2)
    flow, bias = np.zeros((columns(SUBBANDS), 1)), np.zeros(1)
    flow[-2] = 1.0  # the one hidden unit is the air time
    flow[-3] = -0.01  # a longer share shortens it a little, so that THz is used at all
    probe = Encoder(flow, bias, np.array([[1.0], [0.0]]), np.zeros(1))
    wants_thz = Head(np.array([1.0, 0.0]), np.zeros((2, 2)), 0.0)
    hates_air = Head(np.array([-1.0, 0.0]), np.zeros((2, 2)), 0.0)
    counts, level, _ = search(probe, wants_thz, features, LEVELS, Search(5, 2, 0.0))
    assert counts.tolist() == features.chunks.tolist()
    assert level.tolist() == [0, 0]  # long air time is what this head likes: low power
    counts, _, _ = search(probe, hates_air, features, LEVELS, Search(5, 2, 0.0))
    assert counts.tolist() == [0, 0, 0]


def test_the_order_of_a_senders_levels_does_not_matter_to_other_senders() -> None:
    encoder, head, features = random_event(11, flows=4, senders=2)
    counts, level, score = search(encoder, head, features, LEVELS, Search(5, 4, 0.0))
    action = taken(counts, level, features)
    phi: FloatArray = representation(encoder, features, LEVELS, action, slots=9)
    assert score == pytest.approx(ucb(head, phi), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e3, 1e6, 1e9, 1e12])
def test_large_and_small_scores_are_searched_as_well(scale: float) -> None:
    for seed in range(60):
        encoder, head, features = random_event(seed, flows=4, chunks=6)
        large = Head(head.weights * scale, head.inverse_factor * scale, 0.3)
        counts, level, score = search(encoder, large, features, LEVELS, Search(4, 3, 0.0))
        found, slow_score = slow_search(encoder, large, features, LEVELS, Search(4, 3, 0.0))
        assert score == pytest.approx(slow_score, rel=1e-9)
        assert taken(counts, level, features) == found


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_network_that_is_not_finite_still_gives_an_action(broken: float) -> None:
    for seed in range(60):
        encoder, head, features = random_event(seed, flows=4, chunks=6)
        encoder.flow[-1 - seed % 3, seed % 6] = broken
        counts, level, _ = search(encoder, head, features, LEVELS, Search(4, 3, 0.0))
        assert (counts >= 0).all()
        assert (counts <= features.chunks).all()
        assert set(level.tolist()) <= {0, 1}


@pytest.mark.parametrize("exploration", [0.1, 3.0])
def test_no_candidate_is_left_out_that_would_have_survived(exploration: float) -> None:
    """The best action often comes from a survivor that was not the best, or from an unsure one."""
    for seed in range(40):
        encoder, head, features = random_event(seed, flows=6, senders=3, chunks=6)
        head, how = head._replace(exploration=exploration), Search(4, 3, 0.0)
        counts, level, score = search(encoder, head, features, LEVELS, how)
        action, slow_score = slow_search(encoder, head, features, LEVELS, how)
        assert score == pytest.approx(slow_score, abs=1e-9)
        assert taken(counts, level, features) == action


def test_many_events_at_once_get_what_each_gets_alone() -> None:
    encoder, head, _ = random_event(3)
    how = Search(4, 3, 0.01)
    events = [
        random_event(seed, flows=flows, senders=senders, chunks=9)[2]
        for seed, (flows, senders) in enumerate([(5, 2), (1, 1), (4, 4), (7, 3)])
    ]
    memory = Replay(8, columns(SUBBANDS), LEVELS)
    for features in events:
        memory.add(features, np.ones((len(features.rows), ACTION_COLUMNS)), 0.0)
    which = np.array([3, 0, 2, 1])
    counts, level, scores = search_each(encoder, head, memory.events(which), LEVELS, how)
    for n, event in enumerate(which):
        alone = search(encoder, head, events[event], LEVELS, how)
        assert counts[n, : len(alone[0])].tolist() == alone[0].tolist()
        assert level[n, : len(alone[1])].tolist() == alone[1].tolist()
        assert scores[n] == alone[2]


@pytest.mark.parametrize("exploration", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_where_leaving_it_costs_too_much_the_best_uniform_action_is_found(
    seed: int, exploration: float
) -> None:
    encoder, head, features = random_event(seed, flows=5 + seed % 2, senders=3, chunks=9)
    head, how = head._replace(exploration=exploration), Search(5, 2, 1e6)
    listed = list(uniform_actions(features, LEVELS, how))
    plain = [
        ucb(head, representation(encoder, features, LEVELS, action, slots=6)) for action in listed
    ]
    counts, level, score = search(encoder, head, features, LEVELS, how)
    assert score == pytest.approx(max(plain), abs=1e-12)
    assert taken(counts, level, features) == listed[int(np.argmax(plain))]
