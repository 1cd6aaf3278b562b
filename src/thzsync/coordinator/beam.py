"""Coordinate-wise beam search over chunk counts and power levels (eq:bandit_ucb_selection).

The structured candidate set A_e of one event: first every uniform action (one share, one power
level for all), of which the best ``beam_width`` survive; then one coordinate after another, the
count of each flow and the level of each active sender, tries all its values in every survivor and
again the best stay. A partial action is scored with its open coordinates as the uniform action
left them. Leaving the uniform action costs a small fixed amount per coordinate: the best of many
estimates is an optimistic one, and dozens of coordinates that each promise next to nothing would
otherwise be turned by noise alone. The paper's own search (``partial``) begins with the empty
action instead. Ties go to the earlier survivor and the smaller value: the result is a function of
the arguments.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Events, Features, alone
from thzsync.coordinator.scoring import (
    Head,
    Lines,
    Rest,
    Searched,
    add_flow,
    clear,
    dot,
    farthest,
    follow,
    lay,
    prepare,
    represent_change,
    settle,
    uncertainty,
    upper_confidence,
)
from thzsync.jit import inner, inner_bare, kernel


SLACK: Final = 1e-9
"""More than rounding adds to a score."""


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


class Search(NamedTuple):
    """How the candidates are made."""

    count_levels: int
    """Chunk counts tried per flow, evenly spread from none to all."""
    beam_width: int
    """Survivors of every step."""
    deviation_cost: float
    """What a coordinate must gain to leave the uniform action."""
    partial: bool = False
    """Whether actions are built up from the empty one, as in the paper, not from uniform ones."""


class Trial(NamedTuple):
    """Every value of one coordinate in every survivor."""

    score: FloatArray
    """(survivor, option)."""
    sums: FloatArray
    """Hidden units of the varied sender (survivor, option, unit)."""
    value: IntArray
    """What an option stands for: a chunk count, or a level index."""
    phi: FloatArray
    """The options of one survivor (option, unit)."""
    reach: FloatArray
    """Uncertainty of a phi that has nothing but one unit."""


def search(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, float]:
    """THz chunks per flow, level index per sender, and the score of the best action found."""
    counts, level, score = search_each(encoder, head, alone(features), levels, how)
    return counts, level, float(score[0])


@kernel
def search_each(
    encoder: Encoder, head: Head, events: Events, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, FloatArray]:
    """What a search finds for each of many events, one behind the other."""
    joined, many = events.joined, len(events.flows) - 1
    counts = np.empty(len(joined.chunks), dtype=np.int64)
    level = np.empty(len(joined.start) - many, dtype=np.int64)
    scores = np.empty(many)
    for e in range(many):
        first, last = events.flows[e], events.flows[e + 1]
        begin, end = events.starts[e], events.starts[e + 1]
        features = Features(
            joined.rows[first:last],
            joined.group[first:last],
            joined.members[first:last],
            joined.start[begin:end],
            joined.chunks[first:last],
            joined.air[first:last],
        )
        best, scores[e] = _search(encoder, head, features, levels, how)
        for f in range(last - first):
            counts[first + f] = best.counts[0, f]
        for s in range(end - begin - 1):
            level[begin - e + s] = best.level[0, s]
    return counts, level, scores


@inner
def _search(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[Beam, float]:
    """The last survivors, and the score of the best without what its deviations cost."""
    flows, senders = len(features.chunks), len(features.start) - 1
    width, hidden = how.beam_width, len(encoder.flow_bias)
    event, rest, lines = prepare(encoder, features, head, levels)
    beam = _empty_beam(width, flows, senders, hidden)
    spare = _empty_beam(width, flows, senders, hidden)
    options = max(how.count_levels, len(levels))
    trial = Trial(
        np.empty((width, options)),
        np.empty((width, options, hidden)),
        np.empty(options, dtype=np.int64),
        np.empty((options, len(rest.phi))),
        np.zeros(len(rest.phi)),
    )
    _climb(event, rest, lines, beam, spare, trial, how)
    best = spare if (flows + senders) % 2 else beam
    return best, best.score[0] + how.deviation_cost * best.deviations[0]


@inner_bare
def _climb(
    event: Searched, rest: Rest, lines: Lines, beam: Beam, spare: Beam, trial: Trial, how: Search
) -> None:
    """Take one coordinate after the other; every step leaves its survivors in the other beam."""
    features, levels = event.features, event.levels
    flows, senders = len(features.chunks), len(features.start) - 1
    if event.head.exploration > 0.0:
        for j in range(len(trial.reach)):
            row = event.head.inverse_factor[j]
            trial.reach[j] = math.sqrt(dot(row, row))
    if how.partial:
        # The empty action; a sender's level is open until its turn, and its full power assumed.
        _insert_uniform(event, rest, beam, spare, len(levels) - 1)
    else:
        _seed(event, rest, beam, spare, how.count_levels)
    for coordinate in range(flows + senders):
        if coordinate < flows:
            group = features.group[coordinate]
            tried = _try_counts(event, rest, lines, beam, coordinate, how, trial)
        else:
            group = coordinate - flows
            tried = _try_levels(event, rest, beam, group, trial)
        charge(beam, trial, tried, coordinate, group, how.deviation_cost)
        survive(beam, spare, trial, tried, coordinate, group, group)
        beam, spare = spare, beam


@kernel
def spread_count(chunks: int, step: int, count_levels: int) -> int:
    """Chunks at ``step`` of ``count_levels - 1`` even steps from none to all, halves rounded up."""
    steps = count_levels - 1
    return (2 * step * chunks + steps) // (2 * steps)


@inner
def _empty_beam(width: int, flows: int, senders: int, hidden: int) -> Beam:
    return Beam(
        np.zeros((width, flows), dtype=np.int64),
        np.zeros((width, senders), dtype=np.int64),
        np.zeros((width, senders, hidden)),
        np.full(width, -np.inf),
        np.zeros(width, dtype=np.int64),
    )


@inner_bare
def _seed(event: Searched, rest: Rest, beam: Beam, spare: Beam, count_levels: int) -> None:
    """Fill the beam with the best uniform actions; the other beam is scratch."""
    chunks, counts, last = event.features.chunks, spare.counts[0], len(event.levels) - 1
    for step in range(count_levels):
        changed, silent = step == 0, True
        for f in range(len(chunks)):
            count = spread_count(chunks[f], step, count_levels)
            silent = silent and count == 0
            changed = changed or count != counts[f]
            counts[f] = count
        for level in range(len(event.levels)):
            # Without THz chunks every power is the same action.
            if changed and (level == last or not silent):
                _insert_uniform(event, rest, beam, spare, level)


@inner_bare
def _insert_uniform(event: Searched, rest: Rest, beam: Beam, spare: Beam, level: int) -> None:
    """Score one uniform action, ``spare.counts[0]`` at one level, and put it in its place."""
    chunks, group, air = event.features.chunks, event.features.group, event.features.air
    base, effect, power = event.base, event.effect, event.levels[level]
    counts, sums = spare.counts[0], spare.sums[0]
    for s in range(len(sums)):
        clear(sums[s])
    for f in range(len(chunks)):
        share = counts[f] / chunks[f]
        add_flow(base, effect, f, share, air[f, level], power, sums[group[f]])
    clear(rest.siblings)
    settle(event, sums, len(sums), rest)
    value = _score(event, rest, rest.siblings, 1.0)
    place = len(beam.score)
    while place > 0 and value > beam.score[place - 1]:
        place -= 1
    if place == len(beam.score):
        return
    for b in range(len(beam.score) - 1, place, -1):
        copy_survivor(beam, b - 1, beam, b)
    beam.score[place] = value
    for f in range(len(chunks)):
        beam.counts[place, f] = counts[f]
    for s in range(len(sums)):
        beam.level[place, s] = level
        for k in range(sums.shape[1]):
            beam.sums[place, s, k] = sums[s, k]


@inner_bare
def _score(event: Searched, rest: Rest, varied: FloatArray, per_member: float) -> float:
    """UCB score of one candidate."""
    head, phi = event.head, rest.phi
    represent_change(
        event.dense,
        rest.dense,
        rest.largest,
        rest.siblings,
        varied,
        1.0 / len(event.features.chunks),
        per_member,
        phi,
    )
    return upper_confidence(head.weights, head.inverse_factor, head.exploration, phi, rest.rotated)


@inner_bare
def _try_counts(
    event: Searched, rest: Rest, lines: Lines, beam: Beam, flow: int, how: Search, trial: Trial
) -> int:
    """Score the counts of one flow in every survivor; how many counts there are.

    A flow of few chunks tries them all; otherwise an even spread.
    """
    features, sender = event.features, event.features.group[flow]
    base, effect, levels, air = event.base, event.effect, event.levels, features.air
    chunks, members, values = features.chunks, features.members, trial.value
    counts, level, sums, scores = beam.counts, beam.level, trial.sums, trial.score
    first, last = features.start[sender], features.start[sender + 1]
    dense, siblings, weights, phis = event.dense, rest.siblings, event.head.weights, trial.phi
    none, rise, offset, slope = lines.none, lines.rise, lines.offset, lines.slope
    per_flow, per_member = 1.0 / len(chunks), 1.0 / (last - first)
    tried: int = min(chunks[flow], how.count_levels - 1) + 1
    for option in range(tried):
        few = chunks[flow] < how.count_levels
        values[option] = option if few else spread_count(chunks[flow], option, how.count_levels)
    for b in range(len(scores)):
        p = level[b, sender]
        clear(siblings)
        for m in range(first, last):
            f = members[m]
            if f != flow:
                share = counts[b, f] / chunks[f]
                add_flow(base, effect, f, share, air[f, p], levels[p], siblings)
        nearest = lay(event, beam.sums[b], sender, flow, p, rest, lines)
        for option in range(tried):
            share = values[option] / chunks[flow]
            if share >= nearest:
                nearest = follow(dense, rest, lines, share, per_flow, per_member)
            for k in range(len(none)):
                unit = none[k] + share * rise[k]
                sums[b, option, k] = siblings[k] + (unit if unit > 0.0 else 0.0)
            for j in range(len(offset)):
                unit = offset[j] + share * slope[j]
                phis[option, j] = unit if unit > 0.0 else 0.0
            scores[b, option] = dot(phis[option], weights)
        if event.head.exploration > 0.0:
            _add_uncertainty(event, rest, beam, b, flow, tried, how.deviation_cost, trial)
    return tried


@inner_bare
def _add_uncertainty(
    event: Searched,
    rest: Rest,
    beam: Beam,
    b: int,
    flow: int,
    tried: int,
    deviation_cost: float,
    trial: Trial,
) -> None:
    """Add what a survivor's candidates are uncertain by; those that cannot survive are left out.

    Uncertainty is a norm: it differs from that of the survivor itself by no more than the norm of
    the difference, and the survivors as they are would fill the next beam.
    """
    scores, phis, values, reach = trial.score, trial.phi, trial.value, trial.reach
    inverse, exploration, rotated = event.head.inverse_factor, event.head.exploration, rest.rotated
    count, least = beam.counts[b, flow], beam.score[len(beam.score) - 1] - SLACK
    here = 0
    for option in range(tried):
        here = option if values[option] == count else here
    own = uncertainty(inverse, phis[here], rotated)
    for option in range(tried):
        if option == here:
            scores[b, option] += exploration * own
            continue
        far = farthest(reach, phis[option], phis[here])
        deviations = beam.deviations[b] + (values[option] != count)
        most = scores[b, option] + exploration * (own + far) - deviation_cost * deviations
        if most < least:
            scores[b, option] = -np.inf
        else:
            scores[b, option] += exploration * uncertainty(inverse, phis[option], rotated)


@inner_bare
def _try_levels(event: Searched, rest: Rest, beam: Beam, sender: int, trial: Trial) -> int:
    """Score the levels of one sender in every survivor; a silent sender has no choice."""
    features, levels, chunks = event.features, event.levels, event.features.chunks
    first, last = features.start[sender], features.start[sender + 1]
    clear(rest.siblings)
    for b in range(len(beam.score)):
        active = False
        for m in range(first, last):
            active = active or beam.counts[b, features.members[m]] > 0
        settle(event, beam.sums[b], sender, rest)
        for p in range(len(levels)):
            varied = trial.sums[b, p]
            clear(varied)
            for m in range(first, last):
                f = features.members[m]
                share = beam.counts[b, f] / chunks[f]
                air = features.air[f, p]
                add_flow(event.base, event.effect, f, share, air, levels[p], varied)
            trial.value[p] = p
            trial.score[b, p] = -np.inf
            if active or p == beam.level[b, sender]:
                trial.score[b, p] = _score(event, rest, varied, 1.0 / (last - first))
    return len(levels)


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

    ``held`` is the row of hidden units that the coordinate changes.
    """
    flows = beam.counts.shape[1]
    for place in range(len(after.score)):
        parent, option = 0, 0
        for b in range(len(beam.score)):
            for o in range(tried):
                if trial.score[b, o] > trial.score[parent, option]:
                    parent, option = b, o
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
            if _agree(beam, parent, b, coordinate):
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
