"""Weighing hidden units finds what following lines finds, and says where it cannot know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.test_beam import LEVELS, random_event, searched, taken, uncompiled_kernels
from tests.reference.beam_search import representation
from thzsync.coordinator import beam, worth
from thzsync.coordinator import counts as flow_counts
from thzsync.coordinator.beam import Search, search
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.coordinator.scoring import Head

__all__ = ["uncompiled_kernels"]


def greedy_event(seed: int, flows: int, senders: int) -> tuple[Encoder, Head, Features]:
    """An event for a search that looks at means alone."""
    encoder, head, features = random_event(seed, flows, senders, chunks=9)
    return encoder, Head(head.weights, np.zeros_like(head.inverse_factor), 0.0), features


@given(
    seed=st.integers(0, 10**6),
    flows=st.sampled_from([3, 6, 24]),
    count_levels=st.integers(2, 8),
    cost=st.sampled_from([0.0, 0.003, 0.02, 0.1]),
    partial=st.booleans(),
)
def test_weighing_finds_what_lines_find_to_the_bit(
    seed: int, flows: int, count_levels: int, cost: float, partial: bool
) -> None:
    """The slightest exploration is enough to follow lines; without uncertainty it adds nothing."""
    encoder, head, features = greedy_event(seed, flows, senders=3)
    how = Search(count_levels, 1, cost, partial)
    counts, level, score = search(encoder, head, features, LEVELS, how)
    along = search(encoder, head._replace(exploration=1e-300), features, LEVELS, how)
    assert taken(counts, level, features) == taken(*along[:2], features)
    assert score == along[2]


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
@pytest.mark.filterwarnings("ignore:(invalid|overflow)")
def test_a_network_that_is_not_finite_is_searched_as_along_lines(
    broken: float, monkeypatch: pytest.MonkeyPatch, uncompiled_kernels: None
) -> None:
    found: list[list[object]] = []
    for weigh in (flow_counts._weigh_counts, lambda *_: np.inf):
        monkeypatch.setattr(flow_counts, "_weigh_counts", weigh)
        found.append([])
        for seed in range(6):
            encoder, head, features = greedy_event(seed, flows=6, senders=3)
            encoder.flow[-1 - seed % 3, seed] = broken
            counts, level, _ = beam.search(encoder, head, features, LEVELS, Search(4, 1, 0.003))
            found[-1].append(taken(counts, level, features))
    assert found[0] == found[1]


@pytest.mark.parametrize("seed", range(8))
def test_gains_are_right_but_for_the_doubt(seed: int, uncompiled_kernels: None) -> None:
    encoder, head, features = greedy_event(seed, flows=12, senders=3)
    event, space, held = survivor(encoder, head, features, seed)
    action = [list(map(int, held.counts[0])), tuple(map(int, held.level[0]))]

    def mean(flow: int, count: int) -> float:
        counts = [count if f == flow else was for f, was in enumerate(action[0])]
        phi = representation(encoder, features, LEVELS, (tuple(counts), action[1]), slots=12)
        return float(head.weights @ phi)

    held.score[0] = mean(-1, 0)
    for flow in range(12):
        tried = flow_counts.list_counts(features.chunks[flow], 17, space.trial)
        scale = flow_counts._weigh_counts(event, space, held, flow, action[0][flow], tried, 1e9)
        low, high, _ = worth.doubt(head.weights, space.worth)
        assert scale < np.inf  # no gain is worth that much
        for count in range(tried):
            error = mean(flow, count) - space.trial.score[0, count]
            assert -high - 1e-12 <= error <= low + 1e-12
        assert space.trial.score[0, action[0][flow]] == held.score[0]


def survivor(
    encoder: Encoder, head: Head, features: Features, seed: int
) -> tuple[beam.Searched, beam.Workspace, beam.Beam]:
    """A random action that has survived alone."""
    event, flows, senders = searched(encoder, head, features), len(features.chunks), 3
    space = beam._workspace(encoder, head, len(LEVELS), Search(17, 1, 0.0))
    space.worth.deviations[0] = worth.UNKNOWN
    held = beam._empty_beam(1, flows, senders, len(encoder.flow_bias))
    held.counts[0] = np.random.default_rng(seed).integers(0, features.chunks + 1)
    held.level[0] = [seed % 2, 1, 0]
    for f in range(flows):
        sender, level = features.group[f], held.level[0, features.group[f]]
        share, air = held.counts[0, f] / features.chunks[f], features.air[f, level]
        row = held.sums[0, sender]
        beam.add_flow(event.base, event.effect, f, share, air, LEVELS[level], row)
    return event, space, held


def test_a_small_step_of_one_among_many_flows_needs_no_lines(
    monkeypatch: pytest.MonkeyPatch, uncompiled_kernels: None
) -> None:
    """Otherwise weighing would cost time and save none."""
    followed = []
    lines = flow_counts._follow_lines
    monkeypatch.setattr(flow_counts, "_follow_lines", lambda *a: followed.append(a) or lines(*a))
    encoder, head, features = greedy_event(5, flows=24, senders=3)
    head = head._replace(weights=head.weights / 10)
    beam.search(encoder, head, features, LEVELS, Search(4, 1, 0.02))
    assert len(followed) < 6


def test_where_dense_units_move_too_far_nothing_is_weighed_again(uncompiled_kernels: None) -> None:
    encoder, head, features = greedy_event(3, flows=3, senders=3)
    event, space, held = survivor(encoder, head._replace(weights=np.ones(6)), features, seed=3)
    tried = flow_counts.list_counts(features.chunks[0], 17, space.trial)
    here = int(held.counts[0, 0])
    assert flow_counts._weigh_counts(event, space, held, 0, here, tried, 0.0) == np.inf
    assert space.worth.deviations[0] == worth.VAIN
    space.worth.way[:] = -1.0
    assert flow_counts._weigh_counts(event, space, held, 0, here, tried, 0.0) == np.inf
    assert (space.worth.way == -1.0).all()
