"""Coordinate-wise beam search over chunk counts and power levels (eq:bandit_ucb_selection).

The structured candidate set A_e of one event begins with every uniform action (one share, one power
level for all), of which the best ``beam_width`` survive. Then one coordinate after another, the
count of each flow and the level of each active sender, tries all its values in every survivor, and
again the best survive. Open coordinates keep the values of the uniform action. Leaving the uniform
action costs a small fixed amount per coordinate: the best of many estimates is optimistic, and
noise alone would otherwise change dozens of coordinates that promise next to nothing. The paper's
own search (``partial``) begins with the empty action. Ties go to the earlier survivor and the
smaller value, so the result is a function of the arguments.

The encoders differ only in how a candidate is scored (scoring.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import (
    Beam,
    Candidates,
    Event,
    Head,
    Scratch,
    by_sender,
    charge,
    empty_beam,
    insert,
    survive,
)
from thzsync.coordinator.encoder import Encoder, context_sums, context_units, filled, is_flat
from thzsync.coordinator.features import FLAT_ACTION_COLUMNS, Events, Features, alone
from thzsync.coordinator.scoring import score_action, score_counts, score_levels
from thzsync.jit import bare, inner, inner_bare, kernel


class Search(NamedTuple):
    """Parameters of the search."""

    count_levels: int
    """Chunk counts tried per flow, evenly spread from none to all."""
    beam_width: int
    """Survivors of every step."""
    deviation_cost: float
    """What a coordinate must gain to leave the uniform action."""
    partial: bool = False
    """Whether actions start from the empty one, as in the paper, instead of uniform ones."""


def search(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, float]:
    """THz chunks per flow, level index per sender, and the score of the best action found."""
    counts, level, score = search_each(encoder, head, alone(features), levels, how)
    return counts[0], level[0, : features.senders], float(score[0])


def search_each(
    encoder: Encoder, head: Head, events: Events, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, FloatArray]:
    """``search`` for many events: counts by event and flow, levels by event and sender, scores."""
    hidden, size, options = len(encoder.flow_bias), encoder.size, max(how.count_levels, len(levels))
    scratch = Scratch(*np.zeros((3, hidden)), *np.zeros((3, size)))
    score, sums = np.empty((how.beam_width, options)), np.empty((how.beam_width, options, hidden))
    candidates = Candidates(np.zeros(options, dtype=np.int64), score, sums)
    dense, bias = np.pad(encoder.dense, ((0, 0), (0, 1))), np.append(encoder.dense_bias, 1.0)
    return search_all(encoder, head, events, levels, how, dense, bias, scratch, candidates)


@kernel
def search_all(
    encoder: Encoder,
    head: Head,
    events: Events,
    levels: FloatArray,
    how: Search,
    dense: FloatArray,
    bias: FloatArray,
    scratch: Scratch,
    candidates: Candidates,
) -> tuple[IntArray, IntArray, FloatArray]:
    """``search_each`` with working memory, and the second layer with the constant's unit."""
    shape, flat = events.group.shape, is_flat(encoder)
    counts, level = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    scores, hidden, width = np.empty(shape[0]), len(encoder.flow_bias), how.beam_width
    for n in range(shape[0]):
        event = _event(encoder, head, events, n, levels, dense, bias)
        flows, senders = len(event.chunks), len(event.start) - 1
        rows = 1 if flat else senders
        new = empty_beam(1, flows + senders, rows, hidden)
        beam = empty_beam(width, flows + senders, rows, hidden)
        spare = beam if width == 1 else empty_beam(width, flows + senders, rows, hidden)
        _seed(event, flat, new, beam, scratch, how)
        _climb(event, flat, beam, spare, candidates, scratch, how)
        best = spare if (flows + senders) % 2 else beam
        for f in range(flows):
            counts[n, f] = best.choice[0, f]
        for s in range(senders):
            level[n, s] = best.choice[0, flows + s]
        scores[n] = best.score[0] + how.deviation_cost * best.deviations[0]
    return counts, level, scores


@inner
def _event(
    encoder: Encoder,
    head: Head,
    events: Events,
    n: int,
    levels: FloatArray,
    dense: FloatArray,
    bias: FloatArray,
) -> Event:
    flows, contexts = filled(events.group[n]), events.contexts
    group, rows = events.group[n, :flows], events.rows[n, :flows]
    members, start = by_sender(group)
    if is_flat(encoder):
        base = context_sums(encoder, rows, contexts)
        effect = _action_rows(encoder, flows, contexts)
    else:
        base, effect = context_units(encoder, rows, contexts), encoder.flow[contexts:]
    chunks, air = events.chunks[n, :flows], events.air[n, :flows]
    return Event(group, chunks, air, members, start, base, effect, dense, bias, head, levels)


@inner
def _action_rows(encoder: Encoder, flows: int, contexts: int) -> FloatArray:
    """What flow f's share (row 2 f) and sender f's power (row 2 f + 1) add to the first layer."""
    rows, size = np.empty((2 * flows, len(encoder.flow_bias))), contexts + FLAT_ACTION_COLUMNS
    for f in range(flows):
        for k in range(rows.shape[1]):
            rows[2 * f, k] = encoder.flow[f * size + contexts, k]
            rows[2 * f + 1, k] = encoder.flow[f * size + contexts + 1, k]
    return rows


@inner_bare
def _seed(event: Event, flat: bool, new: Beam, beam: Beam, scratch: Scratch, how: Search) -> None:
    """Fill the beam with the best uniform actions, or with the empty one."""
    chunks, choice, top = event.chunks, new.choice[0], len(event.levels) - 1
    flows = len(chunks)
    if how.partial:
        # A sender's level is open until its turn. Where power fades out with the last THz chunk,
        # full power is assumed.
        for s in range(flows, len(choice)):
            choice[s] = -1 if flat else top
        new.score[0] = score_action(event, flat, choice, new.sums[0], scratch)
        insert(beam, new)
        return
    for step in range(how.count_levels):
        changed, silent = step == 0, True
        for f in range(flows):
            if f > 0 and chunks[f] == chunks[f - 1]:
                count = choice[f - 1]
            else:
                count = spread_count(chunks[f], step, how.count_levels)
            changed, silent = changed or count != choice[f], silent and count == 0
            choice[f] = count
        for level in range(top + 1):
            # Without THz chunks every power is the same action.
            if changed and (level == top or not silent):
                for s in range(flows, len(choice)):
                    choice[s] = level
                new.score[0] = score_action(event, flat, choice, new.sums[0], scratch)
                insert(beam, new)


@inner_bare
def _climb(
    event: Event,
    flat: bool,
    beam: Beam,
    spare: Beam,
    candidates: Candidates,
    scratch: Scratch,
    how: Search,
) -> None:
    """Try one coordinate after the other; every step writes its survivors to the other beam."""
    flows, tried = len(event.chunks), 0
    for coordinate in range(beam.choice.shape[1]):
        if coordinate < flows:
            sender = event.group[coordinate]
            if coordinate == 0 or event.chunks[coordinate] != event.chunks[coordinate - 1]:
                tried = _list_counts(event.chunks[coordinate], how.count_levels, candidates.value)
            score_counts(event, flat, beam, coordinate, tried, scratch, candidates)
        else:
            sender, tried = coordinate - flows, len(event.levels)
            for level in range(tried):
                candidates.value[level] = level
            score_levels(event, flat, beam, sender, scratch, candidates)
        charge(beam, candidates, tried, coordinate, how.deviation_cost)
        survive(beam, spare, candidates, tried, coordinate, 0 if flat else sender)
        beam, spare = spare, beam


@inner_bare
def _list_counts(chunks: int, count_levels: int, value: IntArray) -> int:
    """List the counts to try, all if they are few, otherwise evenly spread; return how many."""
    tried = min(chunks, count_levels - 1) + 1
    for option in range(tried):
        few = chunks < count_levels
        value[option] = option if few else spread_count(chunks, option, count_levels)
    return tried


@bare
def spread_count(chunks: int, step: int, count_levels: int) -> int:
    """Chunks at ``step`` of ``count_levels - 1`` even steps from none to all, halves rounded up."""
    steps = count_levels - 1
    return (2 * step * chunks + steps) // (2 * steps)
