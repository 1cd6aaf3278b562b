"""The UCB score of a candidate, from what changed rather than from a full forward pass.

A candidate differs from its survivor in the flows of one sender. What all other flows add to the
dense layer is summed once per coordinate (``settle``); each candidate then adds only the hidden
units of the changed flows, and to the largest-sender pool only where that sender is the largest.

While only the share of one flow varies, its hidden units are straight lines in the share, and so
is what they add to the dense layer, until a unit begins or ends: ``lay`` works the lines out at a
share of zero, and ``follow`` bends them as the share rises.

The innermost functions take bare arrays: taking an array out of a tuple counts references, which
would cost more than the arithmetic.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.jit import inner, inner_bare


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
    shares: FloatArray
    """THz share of every flow in a uniform action."""


class Lines(NamedTuple):
    """One flow's hidden units and the dense layer as straight lines in its share (scratch)."""

    none: FloatArray
    """Hidden units before their rectifier at a share of zero."""
    rise: FloatArray
    """What the whole flow adds to them."""
    state: IntArray
    """Of a hidden unit: whether it is alive (1), and whether its sender's mean leads (2)."""
    final: IntArray
    """Its state when the whole flow goes by THz."""
    turn: FloatArray
    """The share at which its state changes next."""
    offset: FloatArray
    """The dense layer's lines at a share of zero."""
    slope: FloatArray
    """What a whole share adds along them."""


@inner
def prepare(
    encoder: Encoder, features: Features, head: Head, levels: FloatArray
) -> tuple[Searched, Rest, Lines]:
    """The context's part of the first layer, computed once per event, and scratch space."""
    flows, contexts = features.rows.shape
    hidden, units = len(encoder.flow_bias), len(encoder.dense_bias)
    rows, flow, bias = features.rows, encoder.flow, encoder.flow_bias
    base = np.empty((flows, hidden))
    for f in range(flows):
        for k in range(hidden):
            base[f, k] = bias[k]
        for c in range(contexts):
            value = rows[f, c]
            for k in range(hidden):
                base[f, k] += value * flow[c, k]
    dense = np.zeros((2 * hidden, units + 1))
    for k in range(2 * hidden):
        for j in range(units):
            dense[k, j] = encoder.dense[k, j]
    scratch = Rest(
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(units + 1),
        np.zeros(units + 1),
        np.zeros(units + 1),
        np.zeros(flows),
    )
    lines = Lines(
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(hidden, dtype=np.int64),
        np.zeros(hidden, dtype=np.int64),
        np.zeros(hidden),
        np.zeros(units + 1),
        np.zeros(units + 1),
    )
    event = Searched(base, flow[contexts:], dense, features, encoder, head, levels)
    return event, scratch, lines


@inner_bare
def clear(values: FloatArray) -> None:
    """Set all to zero; an assignment of slices would bring seconds of compiling."""
    for k in range(len(values)):
        values[k] = 0.0


@inner_bare
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


@inner_bare
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
                mean = sums[g, k] * per_member
                total[k] += sums[g, k]
                largest[k] = mean if mean > largest[k] else largest[k]


@inner_bare
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


@inner_bare
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


@inner_bare
def lay(
    event: Searched, sums: FloatArray, sender: int, flow: int, level: int, rest: Rest, lines: Lines
) -> float:
    """Begin the lines of one flow at a share of zero; the share at which the first one bends."""
    features, base, effect, dense = event.features, event.base, event.effect, event.dense
    bias, siblings, total, largest = (
        event.encoder.dense_bias,
        rest.siblings,
        rest.total,
        rest.largest,
    )
    none, rise, state, final, turn = lines.none, lines.rise, lines.state, lines.final, lines.turn
    offset, slope = lines.offset, lines.slope
    start, busy = features.start, features.air[flow, level]
    energy, per_flow = busy * event.levels[level], 1.0 / len(features.chunks)
    per_member = 1.0 / (start[sender + 1] - start[sender])
    hidden, size, nearest = len(none), len(offset), np.inf
    pool(start, sums, sender, rest)
    for k in range(hidden):
        none[k] = base[flow, k]
        rise[k] = effect[0, k] + busy * effect[1, k] + energy * effect[2, k]
        state[k] = _state(siblings[k], none[k], per_member, largest[k])
        final[k] = _state(siblings[k], none[k] + rise[k], per_member, largest[k])
    for j in range(size - 1):
        offset[j], slope[j] = bias[j], 0.0
    offset[size - 1], slope[size - 1] = 1.0, 0.0
    for k in range(hidden):
        turn[k] = np.inf
        if state[k] != final[k]:
            turn[k] = _turn(rest, lines, k, per_member)
            nearest = turn[k] if turn[k] < nearest else nearest
        average, most = total[k] * per_flow, largest[k]
        if state[k] != 0:
            gain, climb = 0.0, 0.0
            unit = none[k] if state[k] & 1 else 0.0
            average += unit * per_flow
            if state[k] & 1:
                gain = rise[k] * per_flow
            if state[k] & 2:
                most = (siblings[k] + unit) * per_member
                if state[k] & 1:
                    climb = rise[k] * per_member
            for j in range(size):
                offset[j] += average * dense[k, j] + most * dense[hidden + k, j]
                slope[j] += gain * dense[k, j] + climb * dense[hidden + k, j]
        elif average > 0.0:  # where all flows are silent, so is the largest mean
            for j in range(size):
                offset[j] += average * dense[k, j] + most * dense[hidden + k, j]
    return nearest


@inner_bare
def are_finite(table: FloatArray) -> bool:
    """Whether all numbers are."""
    total = 0.0
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += abs(table[row, column])
    return total < np.inf


@inner_bare
def magnitude(weights: FloatArray, lines: Lines) -> float:
    """How large the numbers are that a mean is summed up from; infinite if some are not finite."""
    rise, offset, slope = lines.rise, lines.offset, lines.slope
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0  # at once, as in a scalar product
    even = len(weights) // 2 * 2
    for j in range(0, even, 2):
        first += abs(weights[j]) * (abs(offset[j]) + abs(slope[j]))
        second += abs(weights[j + 1]) * (abs(offset[j + 1]) + abs(slope[j + 1]))
    for j in range(even, len(weights)):
        first += abs(weights[j]) * (abs(offset[j]) + abs(slope[j]))
    even = len(rise) // 2 * 2
    for k in range(0, even, 2):
        third += abs(rise[k])
        fourth += abs(rise[k + 1])
    for k in range(even, len(rise)):
        third += abs(rise[k])
    return first + second if first + second + third + fourth < np.inf else np.inf


@inner_bare
def follow(
    dense: FloatArray,
    rest: Rest,
    lines: Lines,
    share: float,
    per_flow: float,
    per_member: float,
) -> float:
    """Bend the lines where units begin or end up to this share; where the next one does."""
    siblings, largest = rest.siblings, rest.largest
    none, rise, state, turn = lines.none, lines.rise, lines.state, lines.turn
    nearest = np.inf
    for k in range(len(turn)):
        while turn[k] <= share:
            now = _state(siblings[k], none[k] + share * rise[k], per_member, largest[k])
            if now == state[k]:
                break
            bend(dense, rest, lines, k, now, per_flow, per_member)
            turn[k] = _turn(rest, lines, k, per_member)
        nearest = turn[k] if turn[k] < nearest else nearest
    return nearest


@inner_bare
def bend(
    dense: FloatArray,
    rest: Rest,
    lines: Lines,
    k: int,
    now: int,
    per_flow: float,
    per_member: float,
) -> None:
    """Give one hidden unit another state."""
    before, offset, slope = lines.state[k], lines.offset, lines.slope
    none, rise, siblings, largest = lines.none[k], lines.rise[k], rest.siblings[k], rest.largest[k]
    lines.state[k] = now
    alive = (now & 1) - (before & 1)
    average, gain, lead, climb = alive * none * per_flow, alive * rise * per_flow, 0.0, 0.0
    for sign in (1, -1):
        of = now if sign > 0 else before
        if of & 2:
            lead += sign * (((siblings + none) if of & 1 else siblings) * per_member - largest)
            climb += sign * (rise * per_member if of & 1 else 0.0)
    hidden = len(lines.none)
    for j in range(len(offset)):
        offset[j] += average * dense[k, j] + lead * dense[hidden + k, j]
        slope[j] += gain * dense[k, j] + climb * dense[hidden + k, j]


@inner_bare
def _state(siblings: float, unit: float, per_member: float, largest: float) -> int:
    alive = unit if unit > 0.0 else 0.0
    leads = (siblings + alive) * per_member > largest
    return (1 if unit > 0.0 else 0) + (2 if leads else 0)


@inner_bare
def _turn(rest: Rest, lines: Lines, k: int, per_member: float) -> float:
    """The share at which a unit that has not reached its final state changes."""
    none, rise, missing = lines.none[k], lines.rise[k], lines.state[k] ^ lines.final[k]
    begins = -none / rise if missing & 1 else np.inf
    leads = (
        (rest.largest[k] / per_member - rest.siblings[k] - none) / rise if missing & 2 else np.inf
    )
    return min(begins, leads)


@inner_bare
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


@inner_bare
def rotate(inverse_factor: FloatArray, phi: FloatArray, rotated: FloatArray) -> None:
    """A rectified phi in coordinates in which the posterior is the same in all directions."""
    clear(rotated)
    for j in range(len(phi)):
        unit = phi[j]
        if unit > 0.0:
            for i in range(len(rotated)):  # whole rows vectorise better than the triangle alone
                rotated[i] += unit * inverse_factor[j, i]


@inner_bare
def uncertainty(inverse_factor: FloatArray, phi: FloatArray, rotated: FloatArray) -> float:
    """How far the mean of a rectified phi may be off: ||phi inverse_factor||."""
    rotate(inverse_factor, phi, rotated)
    return math.sqrt(dot(rotated, rotated))


@inner_bare
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


@inner_bare
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
