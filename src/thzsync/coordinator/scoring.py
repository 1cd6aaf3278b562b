"""The UCB score of a candidate, from what changed rather than from a full forward pass.

A candidate differs from its survivor in the flows of one sender. What all other flows add to the
dense layer is summed once per coordinate (``settle``); each candidate then adds only the hidden
units of the changed flows, and to the largest-sender pool only where that sender is the largest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import afresh
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.jit import apart, inner


class Head(NamedTuple):
    """What turns phi into a score: weights . phi + exploration * ||phi inverse_factor||."""

    weights: FloatArray
    inverse_factor: FloatArray
    exploration: float


class Searched(NamedTuple):
    """What stays the same while one event is searched."""

    base: FloatArray
    """What the context alone adds to every flow's hidden units."""
    effect: FloatArray
    """What share, air time and radiated energy add to the hidden units, one row each."""
    dense: FloatArray
    """The dense layer with a column of zeros for the constant in phi."""
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


@inner
def empty_rest(hidden: int, size: int) -> Rest:
    """Room for one coordinate after the other."""
    return Rest(
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
    )


@inner
def padded(dense: FloatArray) -> FloatArray:
    """The dense layer with a column of zeros for the constant in phi."""
    pooled, units = dense.shape
    wider = np.zeros((pooled, units + 1))
    for k in range(pooled):
        for j in range(units):
            wider[k, j] = dense[k, j]
    return wider


@inner
def context_units(encoder: Encoder, rows: FloatArray) -> FloatArray:
    """What the context alone adds to every flow's hidden units, worked out once per event."""
    flows, contexts = rows.shape
    hidden, flow, bias = len(encoder.flow_bias), encoder.flow, encoder.flow_bias
    base = np.empty((flows, hidden))
    for f in range(flows):
        for k in range(hidden):
            base[f, k] = bias[k]
        for c in range(contexts):
            value = rows[f, c]
            for k in range(hidden):
                base[f, k] += value * flow[c, k]
    return base


@apart
def clear(values: FloatArray) -> None:
    """Set all to zero; an assignment of slices would bring seconds of compiling."""
    for k in range(len(values)):
        values[k] = 0.0


@apart
def add_flow(
    base: FloatArray,
    effect: FloatArray,
    flow: int,
    share: float,
    air: float,
    power: float,
    total: FloatArray,
) -> None:
    """Add the hidden units of one flow; ``air`` is the air time of the whole flow."""
    busy = share * air
    energy = busy * power
    for k in range(len(total)):
        unit = base[flow, k] + share * effect[0, k] + busy * effect[1, k] + energy * effect[2, k]
        total[k] += unit if unit > 0.0 else 0.0


@apart
def pool(start: IntArray, sums: FloatArray, sender: int, rest: Rest) -> None:
    """Total and largest mean of the hidden units of all but the varied flows."""
    siblings, total, largest = rest.siblings, rest.total, rest.largest
    hidden = len(siblings)
    for k in range(hidden):
        total[k], largest[k] = siblings[k], 0.0
    for g in range(len(sums)):
        if g != sender:
            per_member = 1.0 / (start[g + 1] - start[g])
            for k in range(hidden):
                mean, most = sums[g, k] * per_member, afresh(largest[k])
                total[k] += sums[g, k]
                largest[k] = mean if mean > most else most


@apart
def settle(event: Searched, sums: FloatArray, sender: int, rest: Rest) -> None:
    """Sum up what does not vary: ``rest.siblings`` and every sender but this one."""
    dense, bias = event.dense, event.encoder.dense_bias
    total, largest, fixed = rest.total, rest.largest, rest.dense
    hidden, size = len(total), len(fixed)
    pool(event.features.start, sums, sender, rest)
    for j in range(size - 1):
        fixed[j] = bias[j]
    fixed[size - 1] = 1.0
    per_flow = 1.0 / len(event.features.chunks)
    for k in range(hidden):
        average, most = total[k] * per_flow, largest[k]
        if average > 0.0:  # where all flows are silent, so is the largest mean
            for j in range(size):
                fixed[j] += average * dense[k, j] + most * dense[hidden + k, j]


@apart
def represent_change(
    dense: FloatArray,
    fixed: FloatArray,
    largest: FloatArray,
    siblings: FloatArray,
    varied: FloatArray,
    per_flow: float,
    per_member: float,
    phi: FloatArray,
) -> None:
    """phi, before its rectifier, when the varied flows add ``varied`` to their sender's units."""
    hidden, size = len(varied), len(fixed)
    for j in range(size):
        phi[j] = fixed[j]
    for k in range(hidden):
        average = varied[k] * per_flow
        excess = (siblings[k] + varied[k]) * per_member - largest[k]
        if excess > 0.0:
            for j in range(size):
                phi[j] += average * dense[k, j] + excess * dense[hidden + k, j]
        elif average > 0.0:
            for j in range(size):
                phi[j] += average * dense[k, j]


@apart
def upper_confidence(
    weights: FloatArray,
    inverse_factor: FloatArray,
    exploration: float,
    phi: FloatArray,
    rotated: FloatArray,
) -> float:
    """Mean plus exploration times uncertainty; ``phi`` is rectified on the way (eq:bandit_mean)."""
    value, square = 0.0, 0.0
    for j in range(len(phi)):
        phi[j] = phi[j] if phi[j] > 0.0 else 0.0
    if exploration <= 0.0:
        for j in range(len(phi)):
            value += phi[j] * weights[j]
        return value
    rotate(inverse_factor, phi, rotated)
    for j in range(len(phi)):  # each sum waits for its last addition: two at once
        value += phi[j] * weights[j]
        square += rotated[j] * rotated[j]
    return value + exploration * math.sqrt(square)


@apart
def rotate(inverse_factor: FloatArray, phi: FloatArray, rotated: FloatArray) -> None:
    """A rectified phi in coordinates in which the posterior is the same in all directions."""
    clear(rotated)
    for j in range(len(phi)):
        unit = phi[j]
        if unit > 0.0:
            for i in range(len(rotated)):  # whole rows vectorise better than the triangle alone
                rotated[i] += unit * inverse_factor[j, i]


@apart
def uncertainty(inverse_factor: FloatArray, phi: FloatArray, rotated: FloatArray) -> float:
    """How far the mean of a rectified phi may be off: ||phi inverse_factor||."""
    rotate(inverse_factor, phi, rotated)
    return math.sqrt(dot(rotated, rotated))


@apart
def dot(a: FloatArray, b: FloatArray) -> float:
    """Their scalar product; four sums at once, since each waits for its last addition."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    even = len(a) // 4 * 4
    for j in range(0, even, 4):
        first += a[j] * b[j]
        second += a[j + 1] * b[j + 1]
        third += a[j + 2] * b[j + 2]
        fourth += a[j + 3] * b[j + 3]
    for j in range(even, len(a)):
        first += a[j] * b[j]
    return (first + second) + (third + fourth)


@apart
def farthest(reach: FloatArray, a: FloatArray, b: FloatArray) -> float:
    """No less than the difference of two uncertainties; ``reach`` has that of every unit alone."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    even = len(a) // 4 * 4
    for j in range(0, even, 4):
        first += abs(a[j] - b[j]) * reach[j]
        second += abs(a[j + 1] - b[j + 1]) * reach[j + 1]
        third += abs(a[j + 2] - b[j + 2]) * reach[j + 2]
        fourth += abs(a[j + 3] - b[j + 3]) * reach[j + 3]
    for j in range(even, len(a)):
        first += abs(a[j] - b[j]) * reach[j]
    return (first + second) + (third + fourth)
