"""The UCB score of candidates, and what a search needs to know of an event."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import hot, inner, inner_bare


class Head(NamedTuple):
    """What turns phi into a score: weights . phi + exploration * ||phi inverse_factor||."""

    weights: FloatArray
    inverse_factor: FloatArray
    exploration: float


class Event(NamedTuple):
    """What stays the same while one event is searched."""

    group: IntArray
    """Sender of every flow."""
    chunks: IntArray
    """K_f of every flow."""
    air: FloatArray
    """Air time of the whole flow (flow, level)."""
    members: IntArray
    """Flows sorted by sender."""
    start: IntArray
    """First place of every sender's flows in ``members`` (one more entry)."""
    base: FloatArray
    """What the context alone adds to the hidden units (flow or 1, unit)."""
    effect: FloatArray
    """What each number of the action adds to the hidden units (number, unit)."""
    dense: FloatArray
    """The second layer with a column of zeros for the constant in phi."""
    bias: FloatArray
    """The second layer's bias, and the constant."""
    head: Head
    levels: FloatArray


class Scratch(NamedTuple):
    """Working memory of one search."""

    siblings: FloatArray
    """Hidden units of the flows that do not vary: the varied sender's, or all."""
    total: FloatArray
    """Sum of the hidden units of all flows that do not vary."""
    largest: FloatArray
    """Largest mean over any other sender, per hidden unit."""
    fixed: FloatArray
    """Second layer before its rectifier, without the varied flows."""
    phi: FloatArray
    rotated: FloatArray


@inner
def empty_scratch(hidden: int, size: int) -> Scratch:
    """Working memory for so many hidden units and a phi of this size."""
    siblings, total, largest = np.zeros(hidden), np.zeros(hidden), np.zeros(hidden)
    return Scratch(siblings, total, largest, np.zeros(size), np.zeros(size), np.zeros(size))


@inner
def padded(dense: FloatArray, bias: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The second layer with one more unit, the constant in phi."""
    inputs, units = dense.shape
    wider, constant = np.zeros((inputs, units + 1)), np.ones(units + 1)
    for j in range(units):
        constant[j] = bias[j]
        for k in range(inputs):
            wider[k, j] = dense[k, j]
    return wider, constant


@inner
def by_sender(group: IntArray) -> tuple[IntArray, IntArray]:
    """Flows sorted by sender, and the first place of every sender's (one more entry)."""
    senders = group.max() + 1 if len(group) else 0
    members, start = np.empty(len(group), dtype=np.int64), np.zeros(senders + 1, dtype=np.int64)
    for f in range(len(group)):
        start[group[f] + 1] += 1
    for s in range(senders):
        start[s + 1] += start[s]
    place = start.copy()
    for f in range(len(group)):
        members[place[group[f]]] = f
        place[group[f]] += 1
    return members, start


@inner_bare
def sends(event: Event, choice: IntArray, sender: int, but: int) -> bool:
    """Whether a sender has THz chunks in any flow but one."""
    for m in range(event.start[sender], event.start[sender + 1]):
        flow = event.members[m]
        if flow != but and choice[flow] > 0:
            return True
    return False


@hot
def upper_confidence(event: Event, scratch: Scratch) -> float:
    """Mean plus exploration times uncertainty of ``scratch.phi``, which is rectified first."""
    weights, inverse_factor, exploration = event.head
    phi, rotated = scratch.phi, scratch.rotated
    value, square = 0.0, 0.0  # eq:bandit_mean, and the square of eq:bandit_uncertainty
    for j in range(len(phi)):
        phi[j] = phi[j] if phi[j] > 0.0 else 0.0
        rotated[j] = 0.0
    if exploration <= 0.0:
        for j in range(len(phi)):
            value += phi[j] * weights[j]
        return value
    for j in range(len(phi)):
        unit = phi[j]
        if unit > 0.0:
            for i in range(len(rotated)):  # whole rows vectorise better than the triangle alone
                rotated[i] += unit * inverse_factor[j, i]
    for j in range(len(phi)):  # each sum waits for its last addition: two at once
        value += phi[j] * weights[j]
        square += rotated[j] * rotated[j]
    return value + exploration * math.sqrt(square)
