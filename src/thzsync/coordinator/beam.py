"""What a beam search works on: an event, its survivors, and candidates that replace them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import inner, inner_bare


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


class Beam(NamedTuple):
    """The survivors, best first; an empty place has a score of minus infinity."""

    choice: IntArray
    """(survivor, coordinate): THz chunks of every flow, then the power level of every sender."""
    sums: FloatArray
    """Sums of hidden units that scores are made of (survivor, sender or 1, unit)."""
    score: FloatArray
    """UCB score minus the cost of deviations."""
    deviations: IntArray
    """Coordinates that have left the uniform action."""


class Candidates(NamedTuple):
    """Every value of one coordinate in every survivor."""

    value: IntArray
    """Value of every option: a chunk count, or a level index."""
    score: FloatArray
    """(survivor, option)."""
    sums: FloatArray
    """The row of hidden units that the coordinate changes (survivor, option, unit)."""


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


@inner
def empty_beam(width: int, coordinates: int, rows: int, hidden: int) -> Beam:
    """A beam without survivors."""
    return Beam(
        np.zeros((width, coordinates), dtype=np.int64),
        np.zeros((width, rows, hidden)),
        np.full(width, -np.inf),
        np.zeros(width, dtype=np.int64),
    )


@inner_bare
def insert(beam: Beam, new: Beam) -> None:
    """Insert the only survivor of ``new`` if it is good enough; ties go to the earlier."""
    place = len(beam.score)
    while place > 0 and new.score[0] > beam.score[place - 1]:
        place -= 1
    if place < len(beam.score):
        for b in range(len(beam.score) - 1, place, -1):
            _copy(beam, b - 1, beam, b)
        _copy(new, 0, beam, place)


@inner_bare
def charge(
    beam: Beam, candidates: Candidates, tried: int, coordinate: int, deviation_cost: float
) -> None:
    """Subtract the cost of deviations; candidates of empty places get minus infinity."""
    for b in range(len(beam.score)):
        for option in range(tried):
            moved = candidates.value[option] != beam.choice[b, coordinate]
            candidates.score[b, option] -= deviation_cost * (beam.deviations[b] + moved)
            if beam.score[b] == -np.inf:
                candidates.score[b, option] = -np.inf


@inner_bare
def survive(
    beam: Beam, after: Beam, candidates: Candidates, tried: int, coordinate: int, row: int
) -> None:
    """Write the best distinct candidates of a coordinate, which changes this row of hidden units.

    With a single survivor ``after`` is ``beam``.
    """
    score = candidates.score
    for place in range(len(after.score)):
        parent, best = 0, 0
        for b in range(len(beam.score)):
            for option in range(tried):
                if score[b, option] > score[parent, best]:
                    parent, best = b, option
        value = candidates.value[best]
        moved = value != beam.choice[parent, coordinate]
        if len(after.score) > 1:
            _copy(beam, parent, after, place)
        after.score[place] = score[parent, best]
        after.deviations[place] += moved
        after.choice[place, coordinate] = value
        for k in range(beam.sums.shape[2]):
            after.sums[place, row, k] = candidates.sums[parent, best, k]
        for b in range(len(beam.score)):
            if b == parent or _agree(beam, parent, b, coordinate):
                score[b, best] = -np.inf  # the same action from another survivor


@inner_bare
def _copy(source: Beam, a: int, target: Beam, b: int) -> None:
    """Copy survivor ``a`` to place ``b``."""
    target.score[b], target.deviations[b] = source.score[a], source.deviations[a]
    for coordinate in range(source.choice.shape[1]):
        target.choice[b, coordinate] = source.choice[a, coordinate]
    for row in range(source.sums.shape[1]):
        for k in range(source.sums.shape[2]):
            target.sums[b, row, k] = source.sums[a, row, k]


@inner_bare
def _agree(beam: Beam, a: int, b: int, but: int) -> bool:
    """Whether two survivors are the same action except for one coordinate."""
    for coordinate in range(beam.choice.shape[1]):
        if coordinate != but and beam.choice[a, coordinate] != beam.choice[b, coordinate]:
            return False
    return True
