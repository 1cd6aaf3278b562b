"""The UCB score of a candidate, from what changed rather than from a full forward pass.

A candidate differs from its survivor in the flows of one sender. What all other flows add to the
dense layer is summed once per coordinate (``settle``); each candidate then adds only the hidden
units of the changed flows, and to the largest-sender pool only where that sender is the largest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.jit import kernel


class Head(NamedTuple):
    """What turns phi into a score: weights . phi + exploration * ||phi inverse_factor||."""

    weights: FloatArray
    inverse_factor: FloatArray
    exploration: float


class Event(NamedTuple):
    """What stays the same while one event is searched."""

    base: FloatArray
    """What the context alone adds to every flow's hidden units."""
    features: Features
    encoder: Encoder
    head: Head
    levels: FloatArray


class Rest(NamedTuple):
    """What the unchanged flows contribute while one coordinate varies (scratch, reused)."""

    siblings: FloatArray
    """Hidden units of the varied sender's other flows, summed."""
    total: FloatArray
    """Hidden units of all unchanged flows, summed."""
    largest: FloatArray
    """Largest mean over any other sender, per hidden unit."""
    dense: FloatArray
    """Dense layer before its rectifier, without the varied flows."""
    phi: FloatArray
    rotated: FloatArray


@kernel
def prepare(
    encoder: Encoder, features: Features, head: Head, levels: FloatArray
) -> tuple[Event, Rest]:
    """The context's part of the first layer, computed once per event, and scratch space."""
    flows, contexts = features.rows.shape
    hidden, units = len(encoder.flow_bias), len(encoder.dense_bias)
    base = np.empty((flows, hidden))
    for f in range(flows):
        for k in range(hidden):
            base[f, k] = encoder.flow_bias[k]
        for c in range(contexts):
            value = features.rows[f, c]
            for k in range(hidden):
                base[f, k] += value * encoder.flow[c, k]
    scratch = Rest(
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(units),
        np.zeros(units + 1),
        np.zeros(units + 1),
    )
    return Event(base, features, encoder, head, levels), scratch


@kernel
def add_flow(event: Event, flow: int, count: int, level: int, total: FloatArray) -> None:
    """Add the hidden units of one flow."""
    contexts = event.features.rows.shape[1]
    share = count / event.features.chunks[flow]
    air = share * event.features.air[flow, level]
    energy = air * event.levels[level]
    for k in range(len(total)):
        unit = event.base[flow, k]
        unit += share * event.encoder.flow[contexts, k]
        unit += air * event.encoder.flow[contexts + 1, k]
        unit += energy * event.encoder.flow[contexts + 2, k]
        total[k] += unit if unit > 0.0 else 0.0


@kernel
def settle(event: Event, sums: FloatArray, sender: int, rest: Rest) -> None:
    """Sum up what does not vary: ``rest.siblings`` and every sender but this one."""
    start, dense = event.features.start, event.encoder.dense
    hidden, units = len(rest.siblings), len(rest.dense)
    for k in range(hidden):
        rest.total[k], rest.largest[k] = rest.siblings[k], 0.0
    for g in range(len(sums)):
        if g != sender:
            per_member = 1.0 / (start[g + 1] - start[g])
            for k in range(hidden):
                mean = sums[g, k] * per_member
                rest.total[k] += sums[g, k]
                rest.largest[k] = mean if mean > rest.largest[k] else rest.largest[k]
    for j in range(units):
        rest.dense[j] = event.encoder.dense_bias[j]
    per_flow = 1.0 / max(len(event.features.chunks), 1)
    for k in range(hidden):
        average, largest = rest.total[k] * per_flow, rest.largest[k]
        for j in range(units):
            rest.dense[j] += average * dense[k, j] + largest * dense[hidden + k, j]


@kernel
def score(event: Event, rest: Rest, varied: FloatArray, members: int) -> float:
    """UCB score when the flows that vary add ``varied`` to their sender's hidden units."""
    hidden, units = len(varied), len(rest.dense)
    dense, phi, rotated = event.encoder.dense, rest.phi, rest.rotated
    for j in range(units):
        phi[j] = rest.dense[j]
    phi[units] = 1.0
    per_flow, per_member = 1.0 / max(len(event.features.chunks), 1), 1.0 / members
    for k in range(hidden):
        average = varied[k] * per_flow
        excess = (rest.siblings[k] + varied[k]) * per_member - rest.largest[k]
        excess = excess if excess > 0.0 else 0.0
        if average > 0.0 or excess > 0.0:
            for j in range(units):
                phi[j] += average * dense[k, j] + excess * dense[hidden + k, j]
    return _upper_confidence(event.head, phi, rotated)


@kernel
def _upper_confidence(head: Head, phi: FloatArray, rotated: FloatArray) -> float:
    """Mean plus exploration times uncertainty; ``phi`` may still be negative (eq:bandit_mean)."""
    size = len(phi)
    for i in range(size):
        rotated[i] = 0.0
    value, square = 0.0, 0.0
    for j in range(size):
        if phi[j] > 0.0:
            value += phi[j] * head.weights[j]
            if head.exploration > 0.0:
                for i in range(j, size):
                    rotated[i] += phi[j] * head.inverse_factor[j, i]
    for i in range(size):
        square += rotated[i] * rotated[i]
    return value + head.exploration * math.sqrt(square)
