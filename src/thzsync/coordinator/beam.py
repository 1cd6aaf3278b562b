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
from thzsync.coordinator.counts import (
    Workspace,
    contested,
    estimate_counts,
    judge_counts,
    list_counts,
    score_change,
)
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Events, Features, alone
from thzsync.coordinator.lines import are_finite, empty_lines
from thzsync.coordinator.scoring import (
    Head,
    Rest,
    Searched,
    add_flow,
    clear,
    context_units,
    dot,
    empty_rest,
    padded,
    settle,
)
from thzsync.coordinator.survivors import Beam, Trial, charge, empty_trial, survive
from thzsync.coordinator.uniform import (
    Uniform,
    empty_uniform,
    list_uniform,
    score_uniform,
    spread_count,
)
from thzsync.jit import inner, inner_bare, kernel

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
    features, rest, lines, trial = event.features, space.rest, space.lines, space.trial
    flows, senders = len(features.chunks), len(features.start) - 1
    always = 0.0 if are_finite(event.dense) else np.inf  # then nothing is left to estimates
    _seed(event, space.uniform, actions, beam, how)
    listed, tried = 0, 0
    for coordinate in range(flows + senders):
        if coordinate < flows:
            group = features.group[coordinate]
            if features.chunks[coordinate] != listed:
                listed = features.chunks[coordinate]
                tried = list_counts(listed, how.count_levels, trial)
            slack = estimate_counts(
                event, space, beam, coordinate, tried, how.deviation_cost, always
            )
            charge(beam, trial, tried, coordinate, group, how.deviation_cost)
            if contested(trial, tried, slack):
                judge_counts(event, rest, beam, coordinate, tried, lines.none, trial)
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
                trial.score[b, p] = score_change(event, rest, varied, 1.0 / (last - first))
    return len(levels)
