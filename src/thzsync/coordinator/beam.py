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
from thzsync.coordinator.lines import Lines, are_finite, empty_lines, follow, lay, magnitude
from thzsync.coordinator.scoring import (
    Head,
    Rest,
    Searched,
    add_flow,
    clear,
    context_units,
    dot,
    empty_rest,
    farthest,
    padded,
    represent_change,
    settle,
    uncertainty,
    upper_confidence,
)
from thzsync.coordinator.survivors import Beam, Trial, charge, empty_trial, survive
from thzsync.coordinator.uniform import (
    Uniform,
    empty_uniform,
    list_uniform,
    score_uniform,
    spread_count,
)
from thzsync.coordinator.worth import (
    UNKNOWN,
    VAIN,
    Worth,
    doubt,
    empty_worth,
    gains_by_worth,
    weigh,
)
from thzsync.jit import inner, inner_bare, kernel
from thzsync.jit.slim import slim

SLACK: Final = 1e-9
"""More than rounding changes a score, as part of the numbers that it is summed up from."""
FIRST: Final = np.zeros(1, dtype=np.int64)
"""The number of an event that is alone."""


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


def search(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, float]:
    """THz chunks per flow, level index per sender, and the score of the best action found."""
    counts, level, score = search_each(encoder, head, alone(features), FIRST, levels, how)
    return counts[0], level[0, : len(features.start) - 1], float(score[0])


class Workspace(NamedTuple):
    """What is made once for all events that are searched together."""

    dense: FloatArray
    rest: Rest
    lines: Lines
    worth: Worth
    uniform: Uniform
    trial: Trial


@kernel
def search_each(
    encoder: Encoder,
    head: Head,
    events: Events,
    which: IntArray,
    levels: FloatArray,
    how: Search,
) -> tuple[IntArray, IntArray, FloatArray]:
    """What a search finds for each of many events, by event and flow, event and sender, event."""
    shape = (len(which), events.group.shape[1])
    counts, level = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    scores = np.empty(len(which))
    space = _workspace(encoder, head, len(levels), how)
    for n in range(len(which)):
        e = which[n]
        flows, senders = events.size[e, 0], events.size[e, 1]
        features = Features(
            events.rows[e, :flows],
            events.group[e, :flows],
            events.members[e, :flows],
            events.start[e, : senders + 1],
            events.chunks[e, :flows],
            events.air[e, :flows],
        )
        best, scores[n] = _search(encoder, head, features, levels, how, space)
        for f in range(flows):
            counts[n, f] = best.counts[0, f]
        for s in range(senders):
            level[n, s] = best.level[0, s]
    return counts, level, scores


@inner
def _workspace(encoder: Encoder, head: Head, levels: int, how: Search) -> Workspace:
    hidden, size, width = len(encoder.flow_bias), encoder.dense.shape[1] + 1, how.beam_width
    trial = empty_trial(width, max(how.count_levels, levels), hidden, size)
    if head.exploration > 0.0:
        for j in range(size):
            row = head.inverse_factor[j]
            trial.reach[j] = math.sqrt(dot(row, row))
    return Workspace(
        padded(encoder.dense),
        empty_rest(hidden, size),
        empty_lines(hidden, size),
        empty_worth(hidden, size),
        empty_uniform(how.count_levels * levels, width, hidden, size),
        trial,
    )


@inner
def _search(
    encoder: Encoder,
    head: Head,
    features: Features,
    levels: FloatArray,
    how: Search,
    space: Workspace,
) -> tuple[Beam, float]:
    """The last survivors, and the score of the best without what its deviations cost."""
    flows, contexts = features.rows.shape
    senders, hidden = len(features.start) - 1, len(encoder.flow_bias)
    base, effect = context_units(encoder, features.rows), encoder.flow[contexts:]
    event = Searched(base, effect, space.dense, features, encoder, head, levels)
    width = how.beam_width
    beam = _empty_beam(width, flows, senders, hidden)
    spare = beam if width == 1 else _empty_beam(width, flows, senders, hidden)
    actions = np.empty((flows, 3, how.count_levels * len(levels)))
    _climb(event, space, actions, beam, spare, how)
    best = spare if (flows + senders) % 2 else beam
    return best, best.score[0] + how.deviation_cost * best.deviations[0]


@inner_bare
def _climb(
    event: Searched, space: Workspace, actions: FloatArray, beam: Beam, spare: Beam, how: Search
) -> None:
    """Take one coordinate after the other; every step leaves its survivors in the other beam."""
    event, space, beam, spare = slim(event), slim(space), slim(beam), slim(spare)
    features, rest, lines, trial = event.features, space.rest, space.lines, space.trial
    flows, senders = len(features.chunks), len(features.start) - 1
    always = 0.0 if are_finite(event.dense) else np.inf  # then nothing is left to estimates
    _seed(event, space.uniform, actions, beam, how)
    space.worth.deviations[0] = UNKNOWN
    listed, tried = 0, 0
    for coordinate in range(flows + senders):
        if coordinate < flows:
            group = features.group[coordinate]
            if features.chunks[coordinate] != listed:
                listed = features.chunks[coordinate]
                tried = _list_counts(listed, how.count_levels, trial)
            slack = _estimate(event, space, beam, coordinate, tried, how.deviation_cost, always)
            charge(beam, trial, tried, coordinate, group, how.deviation_cost)
            if _contested(trial, tried, slack):
                _judge(event, rest, beam, coordinate, tried, lines.none, trial)
                charge(beam, trial, tried, coordinate, group, how.deviation_cost)
        else:
            group = coordinate - flows
            tried = _try_levels(event, rest, beam, group, trial)
            charge(beam, trial, tried, coordinate, group, how.deviation_cost)
        survive(beam, spare, trial, tried, coordinate, group, group)
        beam, spare = spare, beam


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
def _seed(event: Searched, uniform: Uniform, actions: FloatArray, beam: Beam, how: Search) -> None:
    """Fill the beam with the best uniform actions, or with the empty one."""
    levels = len(event.levels)
    if how.partial:
        # A sender's level is open until its turn, and its full power assumed.
        tried, uniform.step[0], uniform.level[0] = 1, 0, levels - 1
    else:
        tried = list_uniform(
            event.features.chunks, levels, how.count_levels, uniform.step, uniform.level
        )
    score_uniform(event, tried, how.count_levels, actions, uniform)
    score, chosen = beam.score, uniform.chosen
    for a in range(tried):
        place = len(score)
        while place > 0 and uniform.score[a] > score[place - 1]:
            place -= 1
        if place < len(score):
            for b in range(len(score) - 1, place, -1):
                score[b], chosen[b] = score[b - 1], chosen[b - 1]
            score[place], chosen[place] = uniform.score[a], a
    for b in range(len(score)):
        if score[b] > -np.inf:
            step, level = uniform.step[chosen[b]], uniform.level[chosen[b]]
            _write_uniform(event, step, level, how.count_levels, beam, b)


@inner_bare
def _write_uniform(
    event: Searched, step: int, level: int, count_levels: int, beam: Beam, b: int
) -> None:
    """Make a uniform action one of the survivors."""
    features, power = event.features, event.levels[level]
    for s in range(beam.sums.shape[1]):
        beam.level[b, s] = level
        clear(beam.sums[b, s])
    for f in range(len(features.chunks)):
        count = spread_count(features.chunks[f], step, count_levels)
        beam.counts[b, f] = count
        share, sums = count / features.chunks[f], beam.sums[b, features.group[f]]
        add_flow(event.base, event.effect, f, share, features.air[f, level], power, sums)


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
def _list_counts(chunks: int, count_levels: int, trial: Trial) -> int:
    """The counts that a flow tries: all if they are few, otherwise an even spread; how many."""
    tried = min(chunks, count_levels - 1) + 1
    for option in range(tried):
        few = chunks < count_levels
        trial.value[option] = option if few else spread_count(chunks, option, count_levels)
        trial.share[option] = trial.value[option] / chunks
    return tried


@inner_bare
def _estimate(
    event: Searched,
    space: Workspace,
    beam: Beam,
    flow: int,
    tried: int,
    deviation_cost: float,
    slack: float,
) -> float:
    """Score the counts of one flow in every survivor, but for rounding; the hopeless not at all.

    The survivors as they are would fill the next beam: what is worse than all of them is not in
    it. Uncertainty is a norm, so it differs from that of the survivor itself by no more than the
    norm of the difference. Returns what rounding cannot exceed, at least ``slack``.
    """
    base, effect, levels, air = event.base, event.effect, event.levels, event.features.air
    rest, trial, exploration = space.rest, space.trial, event.head.exploration
    shares, scores, sums, phis = trial.share, trial.score, trial.sums, trial.phi
    siblings, sender = rest.siblings, event.features.group[flow]
    for b in range(len(scores)):
        p, here, own, scale = beam.level[b, sender], 0, 0.0, np.inf
        for option in range(tried):
            here = option if trial.value[option] == beam.counts[b, flow] else here
        if len(scores) == 1 and exploration <= 0.0:
            scale = _weigh_counts(event, space, beam, flow, here, tried, deviation_cost)
        if scale == np.inf:
            scale = _follow_lines(event, space, beam, b, flow, tried)
        if exploration > 0.0:
            own = uncertainty(event.head.inverse_factor, phis[here], rest.rotated)
        charged = abs(deviation_cost) * (beam.deviations[b] + 1)
        slack = max(slack, SLACK * (1.0 + scale + exploration * own + charged))
        least = beam.score[len(beam.score) - 1] - slack
        for option in range(tried):
            far, deviations = own, beam.deviations[b] + (option != here)
            if exploration > 0.0 and option != here:
                far += farthest(trial.reach, phis[option], phis[here])
            most = scores[b, option] + exploration * far - deviation_cost * deviations
            if most < least and option != here:
                scores[b, option] = -np.inf
                continue
            if exploration > 0.0 and option != here:
                far = uncertainty(event.head.inverse_factor, phis[option], rest.rotated)
            scores[b, option] += exploration * far
            for k in range(len(siblings)):
                sums[b, option, k] = siblings[k]
            add_flow(base, effect, flow, shares[option], air[flow, p], levels[p], sums[b, option])
    return slack


@inner_bare
def _weigh_counts(
    event: Searched, space: Workspace, beam: Beam, flow: int, here: int, tried: int, cost: float
) -> float:
    """Means of the counts of one flow in a single survivor; how large the numbers behind them are.

    Infinite where a count may be better than what the survivor has, and nobody knows by how much.
    """
    rest, worth, trial, sums = space.rest, space.worth, space.trial, beam.sums[0]
    level = beam.level[0, event.features.group[flow]]
    shares, gains = trial.share[:tried], trial.score[0, :tried]
    if worth.deviations[0] == VAIN:
        return np.inf
    weigh(event, sums, beam.deviations[0], rest, worth)
    _add_siblings(event, beam, 0, flow, rest.siblings)
    gains_by_worth(event, sums, flow, level, shares[here], rest, worth, shares, gains)
    low, high, scale = doubt(event.head.weights, worth)
    now, certain = beam.score[0] + cost * beam.deviations[0], low + high <= 0.0
    least = cost - SLACK * (1.0 + scale + abs(cost) * (beam.deviations[0] + 1))
    for option in range(tried):
        if option != here and not (certain or gains[option] + low < least):
            worth.deviations[0] = worth.deviations[0] if low < cost else VAIN
            return np.inf
        gains[option] += now
    return scale if scale < np.inf else np.inf


@inner_bare
def _follow_lines(
    event: Searched, space: Workspace, beam: Beam, b: int, flow: int, tried: int
) -> float:
    """Means of the counts of one flow in a survivor; how large the numbers behind them are."""
    features, sender, weights = event.features, event.features.group[flow], event.head.weights
    rest, lines, trial = space.rest, space.lines, space.trial
    offset, slope, phis = lines.offset, lines.slope, trial.phi
    per_flow = 1.0 / len(features.chunks)
    per_member = 1.0 / (features.start[sender + 1] - features.start[sender])
    _add_siblings(event, beam, b, flow, rest.siblings)
    nearest = lay(event, beam.sums[b], sender, flow, beam.level[b, sender], rest, lines)
    scale = magnitude(weights, lines)
    for option in range(tried):
        share = trial.share[option]
        if share >= nearest:
            nearest = follow(event.dense, rest, lines, share, per_flow, per_member)
        for j in range(len(offset)):
            unit = offset[j] + share * slope[j]
            phis[option, j] = unit if unit > 0.0 else 0.0
        trial.score[b, option] = dot(phis[option], weights)
    return scale


@inner_bare
def _contested(trial: Trial, tried: int, slack: float) -> bool:
    """Whether two scores are so close that rounding could decide between them."""
    scores, rivals, found = trial.score, trial.rivals, 0
    for b in range(len(scores)):
        for option in range(tried):
            score = scores[b, option]
            if score != -np.inf:
                for other in range(found):
                    if not abs(score - rivals[other]) > slack:
                        return True
                rivals[found] = score
                found += 1
    return False


@inner_bare
def _judge(
    event: Searched, rest: Rest, beam: Beam, flow: int, tried: int, varied: FloatArray, trial: Trial
) -> None:
    """Score once more, exactly, what an estimate has left; ``varied`` is scratch."""
    features, sender = event.features, event.features.group[flow]
    per_member = 1.0 / (features.start[sender + 1] - features.start[sender])
    for b in range(len(trial.score)):
        p, settled = beam.level[b, sender], False
        for option in range(tried):
            if trial.score[b, option] == -np.inf:
                continue
            if not settled:
                _add_siblings(event, beam, b, flow, rest.siblings)
                settle(event, beam.sums[b], sender, rest)
                settled = True
            clear(varied)
            share, air = trial.share[option], features.air[flow, p]
            add_flow(event.base, event.effect, flow, share, air, event.levels[p], varied)
            trial.score[b, option] = _score(event, rest, varied, per_member)


@inner_bare
def _add_siblings(event: Searched, beam: Beam, b: int, flow: int, siblings: FloatArray) -> None:
    """Hidden units of the other flows of a flow's sender, summed."""
    base, effect, levels, air = event.base, event.effect, event.levels, event.features.air
    counts, chunks, members = beam.counts, event.features.chunks, event.features.members
    sender = event.features.group[flow]
    p = beam.level[b, sender]
    clear(siblings)
    for m in range(event.features.start[sender], event.features.start[sender + 1]):
        f = members[m]
        if f != flow:
            share = counts[b, f] / chunks[f]
            add_flow(base, effect, f, share, air[f, p], levels[p], siblings)


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
