"""The survivors of a beam search, and how the best candidates of a coordinate take their places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import inner, inner_bare


class Beam(NamedTuple):
    """The survivors, best first; an empty place has a score of minus infinity."""

    counts: IntArray
    """THz chunks (survivor, flow)."""
    level: IntArray
    """Power level (survivor, sender), also of senders that are silent so far."""
    sums: FloatArray
    """Hidden units summed over each sender's flows (survivor, sender, unit)."""
    score: FloatArray
    """UCB score less what the deviations cost."""
    deviations: IntArray
    """Coordinates that have left the uniform action."""


class Trial(NamedTuple):
    """Every value of one coordinate in every survivor."""

    score: FloatArray
    """(survivor, option)."""
    sums: FloatArray
    """Hidden units of the varied sender (survivor, option, unit)."""
    value: IntArray
    """What an option stands for: a chunk count, or a level index."""
    share: FloatArray
    """A chunk count as part of its flow."""
    phi: FloatArray
    """The options of one survivor (option, unit)."""
    reach: FloatArray
    """Uncertainty of a phi that has nothing but one unit."""
    rivals: FloatArray
    """Scratch: the scores that are in question."""


@inner
def empty_trial(width: int, options: int, hidden: int, size: int) -> Trial:
    """Room for so many options in so many survivors."""
    return Trial(
        np.empty((width, options)),
        np.empty((width, options, hidden)),
        np.empty(options, dtype=np.int64),
        np.empty(options),
        np.empty((options, size)),
        np.zeros(size),
        np.empty(width * options),
    )


@inner_bare
def charge(
    beam: Beam, trial: Trial, tried: int, coordinate: int, group: int, deviation_cost: float
) -> None:
    """Take off what deviations cost; places that nobody holds cannot be continued."""
    flows = beam.counts.shape[1]
    for b in range(len(beam.score)):
        uniform = beam.counts[b, coordinate] if coordinate < flows else beam.level[b, group]
        for option in range(tried):
            deviations = beam.deviations[b] + (trial.value[option] != uniform)
            trial.score[b, option] -= deviation_cost * deviations
            if beam.score[b] == -np.inf:
                trial.score[b, option] = -np.inf


@inner_bare
def survive(
    beam: Beam, after: Beam, trial: Trial, tried: int, coordinate: int, group: int, held: int
) -> None:
    """Write the best distinct candidates of one coordinate into ``after``.

    ``held`` is the row of hidden units that the coordinate changes. A single survivor stays where
    it is: then ``after`` is ``beam``.
    """
    flows = beam.counts.shape[1]
    for place in range(len(after.score)):
        parent, option = 0, 0
        for b in range(len(beam.score)):
            for o in range(tried):
                if trial.score[b, o] > trial.score[parent, option]:
                    parent, option = b, o
        if len(after.score) > 1:
            copy_survivor(beam, parent, after, place)
        after.score[place] = trial.score[parent, option]
        for k in range(beam.sums.shape[2]):
            after.sums[place, held, k] = trial.sums[parent, option, k]
        value = trial.value[option]
        if coordinate < flows:
            after.deviations[place] += value != beam.counts[parent, coordinate]
            after.counts[place, coordinate] = value
        else:
            after.deviations[place] += value != beam.level[parent, group]
            after.level[place, group] = value
        for b in range(len(beam.score)):
            if b == parent or _agree(beam, parent, b, coordinate):
                trial.score[b, option] = -np.inf  # the same action from another survivor


@inner_bare
def copy_survivor(source: Beam, a: int, target: Beam, b: int) -> None:
    """Put survivor ``a`` into place ``b``."""
    target.score[b], target.deviations[b] = source.score[a], source.deviations[a]
    for f in range(source.counts.shape[1]):
        target.counts[b, f] = source.counts[a, f]
    for s in range(source.level.shape[1]):
        target.level[b, s] = source.level[a, s]
    for s in range(source.sums.shape[1]):
        for k in range(source.sums.shape[2]):
            target.sums[b, s, k] = source.sums[a, s, k]


@inner_bare
def _agree(beam: Beam, a: int, b: int, coordinate: int) -> bool:
    """Whether two survivors are the same action but for one coordinate."""
    flows = beam.counts.shape[1]
    for f in range(flows):
        if f != coordinate and beam.counts[a, f] != beam.counts[b, f]:
            return False
    for s in range(beam.level.shape[1]):
        if flows + s != coordinate and beam.level[a, s] != beam.level[b, s]:
            return False
    return True
