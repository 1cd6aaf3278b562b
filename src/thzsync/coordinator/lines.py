"""One flow's hidden units and the dense layer as straight lines in the flow's THz share.

While only the share of one flow varies, its hidden units are straight lines in the share, and so
is what they add to the dense layer, until a unit begins or ends: ``lay`` works the lines out at a
share of zero, and ``follow`` bends them as the share rises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.scoring import Rest, Searched, pool
from thzsync.jit import apart, inner


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
def empty_lines(hidden: int, size: int) -> Lines:
    """Room for the lines of one flow after the other."""
    return Lines(
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(hidden, dtype=np.int64),
        np.zeros(hidden, dtype=np.int64),
        np.zeros(hidden),
        np.zeros(size),
        np.zeros(size),
    )


@apart
def are_finite(table: FloatArray) -> bool:
    """Whether all numbers are."""
    total = 0.0
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += abs(table[row, column])
    return total < np.inf


@apart
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


@apart
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


@apart
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


@apart
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


@apart
def _state(siblings: float, unit: float, per_member: float, largest: float) -> int:
    """What ``Lines.state`` says of a unit that has this value before its rectifier."""
    alive = unit if unit > 0.0 else 0.0
    leads = (siblings + alive) * per_member > largest
    return (1 if unit > 0.0 else 0) + (2 if leads else 0)


@apart
def _turn(rest: Rest, lines: Lines, k: int, per_member: float) -> float:
    """The share at which a unit that has not reached its final state changes."""
    none, rise, missing = lines.none[k], lines.rise[k], lines.state[k] ^ lines.final[k]
    begins = -none / rise if missing & 1 else np.inf
    leads = (
        (rest.largest[k] / per_member - rest.siblings[k] - none) / rise if missing & 2 else np.inf
    )
    return min(begins, leads)
