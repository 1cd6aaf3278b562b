"""What every hidden unit is worth, for a search with a single survivor that looks at means alone.

While the share of one flow varies, the units of the dense layer move a little. As long as none of
them begins or ends, the mean is a sum over the hidden units: each is worth so much as part of the
mean over all flows, and so much as part of the largest sender's. That is worked out once per
survivor, and a candidate then takes one step per hidden unit instead of one per pair of units.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.scoring import Rest, Searched, clear, dot, pool, settle
from thzsync.jit import apart, inner, inner_bare

UNKNOWN: Final = -1
VAIN: Final = -2
"""What stands for the number of deviations before an event, and where dense units move too far."""


class Worth(NamedTuple):
    """What the hidden units of a survivor are worth (scratch, reused)."""

    deviations: IntArray
    """How many the survivor had when this was worked out; a single number."""
    dense: FloatArray
    """The dense layer before its rectifier."""
    average: FloatArray
    """What a hidden unit's mean over all flows adds to the score."""
    most: FloatArray
    """What its largest mean over one sender's flows adds."""
    way: FloatArray
    """How far a unit of the dense layer may move while one share varies."""


@inner
def empty_worth(hidden: int, size: int) -> Worth:
    """Room for one survivor after the other."""
    return Worth(
        np.zeros(1, dtype=np.int64),
        np.zeros(size),
        np.zeros(hidden),
        np.zeros(hidden),
        np.zeros(size),
    )


@inner_bare
def weigh(event: Searched, sums: FloatArray, deviations: int, rest: Rest, worth: Worth) -> None:
    """Work out what hidden units are worth, unless that is known of so many deviations."""
    if worth.deviations[0] == deviations:
        return
    worth.deviations[0] = deviations
    clear(rest.siblings)
    settle(event, sums, -1, rest)
    weights, hidden, alive = event.head.weights, len(worth.average), worth.way
    for j in range(len(alive)):
        worth.dense[j] = rest.dense[j]
        alive[j] = weights[j] if rest.dense[j] > 0.0 else 0.0
    for k in range(hidden):
        worth.average[k] = dot(event.dense[k], alive)
        worth.most[k] = dot(event.dense[hidden + k], alive)


@apart
def gains_by_worth(
    event: Searched,
    sums: FloatArray,
    flow: int,
    level: int,
    share: float,
    rest: Rest,
    worth: Worth,
    shares: FloatArray,
    gains: FloatArray,
) -> None:
    """What every share would gain over this one if no unit of the dense layer began or ended.

    How far those units may move goes into ``worth.way``.
    """
    features, dense, sender = event.features, event.dense, event.features.group[flow]
    siblings, largest, way = rest.siblings, rest.largest, worth.way
    start, busy = features.start, features.air[flow, level]
    energy, per_flow = busy * event.levels[level], 1.0 / len(features.chunks)
    per_member = 1.0 / (start[sender + 1] - start[sender])
    hidden, effect = len(siblings), event.effect
    pool(start, sums, sender, rest)
    clear(way)
    clear(gains)
    for k in range(hidden):
        none = event.base[flow, k]
        rise = effect[0, k] + busy * effect[1, k] + energy * effect[2, k]
        now, first, last = max(none + share * rise, 0.0), max(none, 0.0), max(none + rise, 0.0)
        if first == last:
            continue
        others, most = siblings[k], largest[k]
        lead = max((others + now) * per_member, most)
        lowest = max((others + min(first, last)) * per_member, most) - lead
        highest = max((others + max(first, last)) * per_member, most) - lead
        far = max(abs(first - now), abs(last - now)) * per_flow
        farthest = max(-lowest, highest)
        for j in range(len(way)):
            way[j] += far * abs(dense[k, j]) + farthest * abs(dense[hidden + k, j])
        average, leading = worth.average[k] * per_flow, worth.most[k]
        for option in range(len(gains)):
            unit = max(none + shares[option] * rise, 0.0)
            ahead = max((others + unit) * per_member, most)
            gains[option] += average * (unit - now) + leading * (ahead - lead)


@apart
def doubt(weights: FloatArray, worth: Worth) -> tuple[float, float, float]:
    """What gains may be too low by, too high by, and how large the numbers behind them are.

    A unit that begins or ends adds no less than one that goes on as it is.
    """
    low, high, scale = 0.0, 0.0, 0.0
    for j in range(len(weights)):
        unit, way = abs(worth.dense[j]), worth.way[j]
        beyond = (way - unit) * weights[j] if way > unit else 0.0
        low += max(beyond, 0.0)
        high += max(-beyond, 0.0)
        scale += abs(weights[j]) * (unit + way)
    return low, high, scale
