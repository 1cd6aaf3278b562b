"""Every uniform action of an event scored at once: one share and one power level for all flows.

There are dozens of them, and they differ in nothing but two numbers. So they stand side by side:
each step of the score is a loop over all of them, and each sum has the order that it has where one
action is scored by itself (scoring.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import afresh
from thzsync.coordinator.scoring import Searched
from thzsync.jit import apart, bare, inner, inner_bare


class Uniform(NamedTuple):
    """The actions, and scratch space; the last axis is the action everywhere."""

    step: IntArray
    """Steps from no chunks to all."""
    level: IntArray
    sums: FloatArray
    """A hidden unit of one sender's flows, summed."""
    average: FloatArray
    """Hidden units of all flows, summed, then averaged (unit, action)."""
    largest: FloatArray
    """Largest mean over one sender's flows (unit, action)."""
    phi: FloatArray
    """(unit, action)."""
    rotated: FloatArray
    """One unit of a phi whose directions are all equally uncertain."""
    square: FloatArray
    score: FloatArray
    chosen: IntArray
    """The best of them, best first."""


@inner
def empty_uniform(most: int, chosen: int, hidden: int, size: int) -> Uniform:
    """Room for so many actions, of which so many are chosen."""
    return Uniform(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most),
        np.empty((hidden, most)),
        np.empty((hidden, most)),
        np.empty((size, most)),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(chosen, dtype=np.int64),
    )


@bare
def spread_count(chunks: int, step: int, count_levels: int) -> int:
    """Chunks at ``step`` of ``count_levels - 1`` even steps from none to all, halves rounded up."""
    steps = count_levels - 1
    return (2 * step * chunks + steps) // (2 * steps)


@inner_bare
def list_uniform(
    chunks: IntArray, levels: int, count_levels: int, steps: IntArray, level: IntArray
) -> int:
    """The distinct uniform actions in the order in which ties are decided; how many there are.

    Their steps and levels go into the last two.
    """
    found = 0
    for step in range(count_levels):
        changed, silent = step == 0, True
        for f in range(len(chunks)):
            if f > 0 and chunks[f] == chunks[f - 1]:
                continue  # as many as before
            count = spread_count(chunks[f], step, count_levels)
            silent = silent and count == 0
            changed = changed or count != spread_count(chunks[f], step - 1, count_levels)
        for one in range(levels):
            # Without THz chunks every power is the same action.
            if changed and (one == levels - 1 or not silent):
                steps[found], level[found] = step, one
                found += 1
    return found


@inner_bare
def score_uniform(
    event: Searched, tried: int, count_levels: int, actions: FloatArray, to: Uniform
) -> None:
    """Scores of the first so many actions, into ``to.score``.

    ``actions`` is scratch: share, air time and radiated energy (flow, 3, action).
    """
    features, head = event.features, event.head
    start, members = features.start, features.members
    for k in range(len(to.average)):
        for a in range(tried):
            to.average[k, a] = to.largest[k, a] = 0.0
    for g in range(len(start) - 1):
        mine = members[start[g] : start[g + 1]]
        for m in range(len(mine)):
            _load_flow(event, mine[m], tried, count_levels, to, actions[m])
        _add_sender(event.base, event.effect, mine, actions, tried, to.sums, to.average, to.largest)
    per_flow = 1.0 / len(features.chunks)
    _represent(
        event.dense, event.encoder.dense_bias, to.average, to.largest, per_flow, tried, to.phi
    )
    _mean(head.weights, to.phi, tried, to.score)
    if head.exploration > 0.0:
        _add_uncertainty(
            head.inverse_factor, head.exploration, to.phi, tried, to.rotated, to.square, to.score
        )


@inner_bare
def _load_flow(
    event: Searched, flow: int, tried: int, count_levels: int, to: Uniform, action: FloatArray
) -> None:
    """Share, air time and radiated energy of one flow in every action."""
    chunks, air = event.features.chunks[flow], event.features.air[flow]
    step, share = -1, 0.0
    for a in range(tried):
        if to.step[a] != step:
            step = to.step[a]
            share = spread_count(chunks, step, count_levels) / chunks
        busy = share * air[to.level[a]]
        action[0, a], action[1, a], action[2, a] = share, busy, busy * event.levels[to.level[a]]


@apart
def _add_sender(
    base: FloatArray,
    effect: FloatArray,
    flows: IntArray,
    actions: FloatArray,
    tried: int,
    sums: FloatArray,
    total: FloatArray,
    largest: FloatArray,
) -> None:
    """Add the hidden units of a sender's flows to both pools."""
    per_member = 1.0 / len(flows)
    for k in range(len(total)):
        first, second, third = effect[0, k], effect[1, k], effect[2, k]
        for a in range(tried):
            sums[a] = 0.0
        for m in range(len(flows)):
            none = base[flows[m], k]
            for a in range(tried):
                unit = (
                    none
                    + actions[m, 0, a] * first
                    + actions[m, 1, a] * second
                    + actions[m, 2, a] * third
                )
                sums[a] += unit if unit > 0.0 else 0.0
        for a in range(tried):
            mean, most = sums[a] * per_member, afresh(largest[k, a])
            total[k, a] += sums[a]
            largest[k, a] = mean if mean > most else most


@apart
def _represent(
    dense: FloatArray,
    bias: FloatArray,
    average: FloatArray,
    largest: FloatArray,
    per_flow: float,
    tried: int,
    phi: FloatArray,
) -> None:
    """phi from the pools; ``average`` comes as a sum."""
    hidden, size = len(average), len(phi)
    for k in range(hidden):
        for a in range(tried):
            average[k, a] *= per_flow
    for j in range(size):
        first = bias[j] if j < size - 1 else 1.0
        for a in range(tried):
            phi[j, a] = first
        for k in range(hidden):
            mean, most = dense[k, j], dense[hidden + k, j]
            for a in range(tried):
                added = average[k, a] * mean + largest[k, a] * most
                # where all flows are silent, so is the largest mean
                phi[j, a] += added if average[k, a] > 0.0 else 0.0
        for a in range(tried):
            phi[j, a] = phi[j, a] if phi[j, a] > 0.0 else 0.0


@apart
def _mean(weights: FloatArray, phi: FloatArray, tried: int, score: FloatArray) -> None:
    """What an action should earn (eq:bandit_mean)."""
    for a in range(tried):
        score[a] = 0.0
    for j in range(len(phi)):
        weight = weights[j]
        for a in range(tried):
            score[a] += phi[j, a] * weight


@apart
def _add_uncertainty(
    inverse_factor: FloatArray,
    exploration: float,
    phi: FloatArray,
    tried: int,
    rotated: FloatArray,
    square: FloatArray,
    score: FloatArray,
) -> None:
    """Add exploration times uncertainty."""
    for a in range(tried):
        square[a] = 0.0
    for i in range(len(phi)):
        for a in range(tried):
            rotated[a] = 0.0
        for j in range(len(phi)):
            factor = inverse_factor[j, i]
            for a in range(tried):
                rotated[a] += phi[j, a] * factor if phi[j, a] > 0.0 else 0.0
        for a in range(tried):
            square[a] += rotated[a] * rotated[a]
    for a in range(tried):
        score[a] += exploration * np.sqrt(square[a])
