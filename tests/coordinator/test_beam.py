from __future__ import annotations

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
from thzsync.coordinator import beam, lines, scoring, survivors, uniform
from thzsync.coordinator import counts as flow_counts
from thzsync.coordinator.beam import Search, search, search_each
from thzsync.coordinator.encoder import Batch, Encoder, random_encoder
from thzsync.coordinator.features import Features, columns, group_flows
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.replay import Contexts
from thzsync.coordinator.scoring import Head
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


def searched(encoder: Encoder, head: Head, features: Features) -> scoring.Searched:
    """An event as the kernels see it while they search."""
    base = scoring.context_units(encoder, features.rows)
    effect = encoder.flow[features.rows.shape[1] :]
    dense = scoring.padded(encoder.dense)
    return scoring.Searched(base, effect, dense, features, encoder, head, LEVELS)


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


@pytest.fixture
def uncompiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (beam, flow_counts, lines, scoring, survivors, uniform):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)


def test_the_uncompiled_kernel_decides_the_same(request: pytest.FixtureRequest) -> None:
    encoder, head, features = random_event(7, flows=4)
    how = Search(4, 3, 0.01)
    compiled = search(encoder, head, features, LEVELS, how)
    request.getfixturevalue("uncompiled_kernels")
    uncompiled = beam.search(encoder, head, features, LEVELS, how)
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
    memory = Contexts(8)
    for slot, features in enumerate(events):
        memory.put(slot, features)
    assert memory.events is not None
    which = np.array([3, 0, 2, 1])
    counts, level, scores = search_each(encoder, head, memory.events, which, LEVELS, how)
    for n, event in enumerate(which):
        alone = search(encoder, head, events[event], LEVELS, how)
        assert counts[n, : len(alone[0])].tolist() == alone[0].tolist()
        assert level[n, : len(alone[1])].tolist() == alone[1].tolist()
        assert scores[n] == alone[2]


@pytest.mark.parametrize("exploration", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_uniform_actions_side_by_side_score_as_each_does_alone(
    seed: int, exploration: float, uncompiled_kernels: None
) -> None:
    encoder, head, features = random_event(seed, flows=5 + seed % 2, senders=3, chunks=9)
    event, levels = searched(encoder, head._replace(exploration=exploration), features), len(LEVELS)
    room = uniform.empty_uniform(5 * levels, 1, 6, encoder.size)
    tried = uniform.list_uniform(features.chunks, levels, 5, room.step, room.level)
    actions = np.empty((len(features.chunks), 3, 5 * levels))
    uniform.score_uniform(event, tried, 5, actions, room)
    listed = list(uniform_actions(features, LEVELS, Search(5, 1, 0.0)))
    assert tried == len(listed)
    for number, action in enumerate(listed):
        plain = ucb(event.head, representation(encoder, features, LEVELS, action, slots=6))
        assert room.score[number] == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("exploration", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_estimates_are_the_plain_scores_but_for_rounding(
    seed: int, exploration: float, uncompiled_kernels: None
) -> None:
    """Along the lines of a random action's flows units begin and end, take the lead and lose it."""
    encoder, head, features = random_event(seed, flows=6, senders=2, chunks=16)
    head = head._replace(exploration=exploration)
    survivor, options = 0, 17
    event, how = searched(encoder, head, features), Search(options, 2, 0.01)
    space = beam._workspace(encoder, head, len(LEVELS), how)
    held = beam._empty_beam(2, 6, 2, 6)
    held.counts[0] = np.random.default_rng(seed).integers(0, features.chunks + 1)
    held.level[0] = [seed % 2, 1]
    for f in range(6):
        sender, level = features.group[f], held.level[0, features.group[f]]
        share, air = held.counts[0, f] / features.chunks[f], features.air[f, level]
        row = held.sums[0, sender]
        beam.add_flow(event.base, event.effect, f, share, air, LEVELS[level], row)
    trial = space.trial
    for flow in range(6):
        tried = flow_counts.list_counts(features.chunks[flow], options, trial)
        assert tried == features.chunks[flow] + 1
        flow_counts.estimate_counts(event, space, held, flow, tried, 0.01, 0.0)
        for option in range(tried):
            counts = held.counts[0].copy()
            counts[flow] = trial.value[option]
            action = taken(counts, held.level[0], features)
            plain = ucb(head, representation(encoder, features, LEVELS, action, slots=6))
            assert trial.score[survivor, option] == pytest.approx(plain, abs=1e-12)


def test_scores_that_rounding_could_swap_are_contested() -> None:
    trial = beam.empty_trial.py_func(2, 3, 1, 1)
    trial.score[:] = [[0.5, -np.inf, 0.1], [-np.inf, 0.3, 0.2]]
    assert not flow_counts.contested.py_func(trial, 3, 1e-9)
    trial.score[1, 0] = 0.1 + 1e-15
    assert flow_counts.contested.py_func(trial, 3, 1e-9)
    trial.score[1, 0] = np.nan
    assert flow_counts.contested.py_func(trial, 3, 1e-9)
