"""The beam search as one would explain it: whole actions, whole forward passes, Python lists.

The context is padded to a fixed number of slots and masked, as the paper has it; the fast kernel
never sees a padded slot, so agreement also shows that padding changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.beam import Head
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.coordinator.search import Search

Candidate = tuple[tuple[int, ...], tuple[int, ...]]
"""Chunk counts per flow and level index per sender."""


def representation(
    encoder: Encoder, features: Features, levels: FloatArray, action: Candidate, slots: int
) -> FloatArray:
    """phi from one padded, masked vector with tied first-layer weights."""
    flows = len(features.chunks)
    padded = np.zeros((slots, len(encoder.flow)))
    mask = np.arange(slots) < flows
    for f in range(flows):
        level = action[1][features.group[f]]
        share = action[0][f] / features.chunks[f]
        air = share * features.air[f, level]
        padded[f] = [*features.rows[f], share, air, air * levels[level]]
    units = np.maximum(padded @ encoder.flow + encoder.flow_bias, 0) * mask[:, None]
    mean = units.sum(axis=0) / mask.sum()
    of_sender = [units[:flows][features.group == g].mean(axis=0) for g in np.unique(features.group)]
    pooled = np.concatenate((mean, np.max(of_sender, axis=0)))
    return np.append(np.maximum(pooled @ encoder.dense + encoder.dense_bias, 0), 1.0)


def ucb(head: Head, phi: FloatArray) -> float:
    """eq:bandit_mean plus alpha times eq:bandit_uncertainty."""
    return float(head.weights @ phi + head.exploration * np.linalg.norm(phi @ head.inverse_factor))


def slow_search(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[Candidate, float]:
    """The best action found and its score."""
    flows, senders = len(features.chunks), features.senders

    def value(action: Candidate) -> float:
        return ucb(head, representation(encoder, features, levels, action, slots=flows + 3))

    def best(candidates: Iterator[tuple[Candidate, int]]) -> list[tuple[Candidate, int]]:
        cheapest: dict[Candidate, int] = {}
        for action, spent in candidates:
            cheapest[action] = min(spent, cheapest.get(action, spent))
        scored = [(value(a) - how.deviation_cost * n, (a, n)) for a, n in cheapest.items()]
        ranked = sorted(scored, key=lambda pair: -pair[0])
        return [survivor for _, survivor in ranked[: how.beam_width]]

    empty: Candidate = (0,) * flows, (len(levels) - 1,) * senders
    starts = [empty] if how.partial else list(uniform_actions(features, levels, how))
    beam = best((action, 0) for action in starts)
    for f in range(flows):
        beam = best(
            ((change(counts, f, n), level), spent + (n != counts[f]))
            for (counts, level), spent in beam
            for n in count_options(int(features.chunks[f]), how.count_levels)
        )
    for s in range(senders):
        beam = best(
            ((counts, change(level, s, p)), spent + (p != level[s]))
            for (counts, level), spent in beam
            for p in (range(len(levels)) if sends(features, counts, s) else [level[s]])
        )
    return beam[0][0], value(beam[0][0])


def uniform_actions(features: Features, levels: FloatArray, how: Search) -> Iterator[Candidate]:
    """One share and one level for all; without THz chunks only the highest level."""
    senders = features.senders
    for step in range(how.count_levels):
        share = step / (how.count_levels - 1)
        counts = tuple(int(np.floor(share * k + 0.5 + 1e-9)) for k in features.chunks)
        for level in range(len(levels)):
            if sum(counts) or level == len(levels) - 1:
                yield counts, (level,) * senders


def every_action(features: Features, levels: FloatArray) -> Iterator[Candidate]:
    """The whole Cartesian product; levels of silent senders do not matter and stay at 0."""
    senders = features.senders
    for counts in product(*(range(int(k) + 1) for k in features.chunks)):
        choices = [
            range(len(levels)) if sends(features, counts, s) else [0] for s in range(senders)
        ]
        for level in product(*choices):
            yield counts, level


def count_options(chunks: int, count_levels: int) -> list[int]:
    """All counts of a short flow, an even spread of a long one's."""
    if chunks < count_levels:
        return list(range(chunks + 1))
    steps = count_levels - 1
    return [int(np.floor(step * chunks / steps + 0.5 + 1e-9)) for step in range(count_levels)]


def sends(features: Features, counts: tuple[int, ...], sender: int) -> bool:
    """Whether a sender has any THz chunk."""
    return any(counts[f] > 0 for f in np.flatnonzero(features.group == sender))


def change(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    """The same tuple but for one entry."""
    return (*values[:place], value, *values[place + 1 :])
