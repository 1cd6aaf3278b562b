"""Scores of candidates under the pooled encoder.

A candidate differs from its survivor in the flows of one sender. What all other flows add to the
second layer is summed once per coordinate and survivor (``_settle``). Each candidate then adds the
hidden units of the changed flows, and their sender's mean where it is the largest. The inner loops
are inlined; otherwise every call would unpack their arrays again.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import Beam, Candidates
from thzsync.coordinator.scoring import Event, Scratch, sends, upper_confidence
from thzsync.jit import hot, inner_bare


@inner_bare
def score_pooled_action(
    event: Event, choice: IntArray, sums: FloatArray, scratch: Scratch
) -> float:
    """UCB score of a whole action; ``sums`` gets the hidden units of every sender's flows."""
    start, members, flows = event.start, event.members, len(event.chunks)
    for s in range(len(sums)):
        _clear(sums[s])
        for m in range(start[s], start[s + 1]):
            _add_flow(event, members[m], choice[members[m]], choice[flows + s], sums[s])
    _clear(scratch.siblings)
    _settle(event, sums, -1, scratch)
    for j in range(len(scratch.phi)):
        scratch.phi[j] = scratch.fixed[j]
    return upper_confidence(event, scratch)


@inner_bare
def score_pooled_counts(
    event: Event, beam: Beam, flow: int, tried: int, scratch: Scratch, candidates: Candidates
) -> None:
    """Score the counts of one flow in every survivor."""
    sender, flows = event.group[flow], len(event.chunks)
    for b in range(len(beam.score)):
        choice = beam.choice[b]
        level = choice[flows + sender]
        _clear(scratch.siblings)
        for m in range(event.start[sender], event.start[sender + 1]):
            f = event.members[m]
            if f != flow:
                _add_flow(event, f, choice[f], level, scratch.siblings)
        _settle(event, beam.sums[b], sender, scratch)
        for option in range(tried):
            varied = candidates.sums[b, option]
            _clear(varied)
            _add_flow(event, flow, candidates.value[option], level, varied)
            candidates.score[b, option] = _score_change(event, sender, varied, scratch)


@inner_bare
def score_pooled_levels(
    event: Event, beam: Beam, sender: int, scratch: Scratch, candidates: Candidates
) -> None:
    """Score the levels of one sender in every survivor; a silent sender has no choice."""
    flows = len(event.chunks)
    _clear(scratch.siblings)
    for b in range(len(beam.score)):
        choice = beam.choice[b]
        active = sends(event, choice, sender, -1)
        _settle(event, beam.sums[b], sender, scratch)
        for level in range(len(event.levels)):
            candidates.score[b, level] = -np.inf
            if active or level == choice[flows + sender]:
                varied = candidates.sums[b, level]
                _clear(varied)
                for m in range(event.start[sender], event.start[sender + 1]):
                    f = event.members[m]
                    _add_flow(event, f, choice[f], level, varied)
                candidates.score[b, level] = _score_change(event, sender, varied, scratch)


@hot
def _clear(values: FloatArray) -> None:
    """Set all to zero; assigning to a slice would take seconds to compile."""
    for k in range(len(values)):
        values[k] = 0.0


@hot
def _add_flow(event: Event, flow: int, count: int, level: int, sums: FloatArray) -> None:
    """Add the hidden units of one flow."""
    base, effect = event.base, event.effect
    share = count / event.chunks[flow]
    busy = share * event.air[flow, level]
    energy = busy * event.levels[level]
    for k in range(len(sums)):
        unit = base[flow, k] + share * effect[0, k] + busy * effect[1, k] + energy * effect[2, k]
        sums[k] += unit if unit > 0.0 else 0.0


@hot
def _settle(event: Event, sums: FloatArray, sender: int, scratch: Scratch) -> None:
    """Sum what does not vary: ``scratch.siblings`` and every sender but this one."""
    total, largest, fixed, dense = scratch.total, scratch.largest, scratch.fixed, event.dense
    hidden, per_flow = len(total), 1.0 / len(event.chunks)
    for k in range(hidden):
        total[k], largest[k] = scratch.siblings[k], 0.0
    for s in range(len(sums)):
        if s != sender:
            per_member = 1.0 / (event.start[s + 1] - event.start[s])
            for k in range(hidden):
                total[k] += sums[s, k]
                largest[k] = max(largest[k], sums[s, k] * per_member)
    for j in range(len(fixed)):
        fixed[j] = event.bias[j]
    for k in range(hidden):
        average, most = total[k] * per_flow, largest[k]
        if average > 0.0:  # where all flows are silent, so is the largest mean
            for j in range(len(fixed)):
                fixed[j] += average * dense[k, j] + most * dense[hidden + k, j]


@hot
def _score_change(event: Event, sender: int, varied: FloatArray, scratch: Scratch) -> float:
    """UCB score when the varied flows have these hidden units; their siblings are added to them."""
    dense, phi, hidden = event.dense, scratch.phi, len(varied)
    per_flow = 1.0 / len(event.chunks)
    per_member = 1.0 / (event.start[sender + 1] - event.start[sender])
    for j in range(len(phi)):
        phi[j] = scratch.fixed[j]
    for k in range(hidden):
        average = varied[k] * per_flow
        varied[k] += scratch.siblings[k]
        excess = varied[k] * per_member - scratch.largest[k]
        if excess > 0.0:
            for j in range(len(phi)):
                phi[j] += average * dense[k, j] + excess * dense[hidden + k, j]
        elif average > 0.0:
            for j in range(len(phi)):
                phi[j] += average * dense[k, j]
    return upper_confidence(event, scratch)
