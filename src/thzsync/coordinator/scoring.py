"""The UCB scores of the candidates of a beam search, under either encoder.

Pooled: a candidate differs from its survivor in the flows of one sender. What all other flows add
to the second layer is summed once per coordinate and survivor (``_settle``). Each candidate then
adds the hidden units of the changed flows, and their sender's mean where it is the largest. The
inner loops are inlined; otherwise every call would unpack their arrays again.

Flat: a candidate differs in one or two numbers of the action. The search keeps the first layer's
sums before their rectifiers, and each candidate adds the difference.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import Beam, Candidates, Event, Scratch
from thzsync.jit import hot, inner_bare


@inner_bare
def sends(event: Event, choice: IntArray, sender: int, but: int) -> bool:
    """Whether a sender has THz chunks in any flow but one."""
    for m in range(event.start[sender], event.start[sender + 1]):
        flow = event.members[m]
        if flow != but and choice[flow] > 0:
            return True
    return False


@hot
def upper_confidence(event: Event, scratch: Scratch) -> float:
    """Mean plus exploration times uncertainty of ``scratch.phi``, which is rectified first."""
    weights, inverse_factor, exploration = event.head
    phi, rotated = scratch.phi, scratch.rotated
    value, square = 0.0, 0.0  # eq:bandit_mean, and the square of eq:bandit_uncertainty
    for j in range(len(phi)):
        phi[j] = phi[j] if phi[j] > 0.0 else 0.0
        rotated[j] = 0.0
    if exploration <= 0.0:
        for j in range(len(phi)):
            value += phi[j] * weights[j]
        return value
    for j in range(len(phi)):
        unit = phi[j]
        if unit > 0.0:
            for i in range(len(rotated)):  # whole rows vectorise better than the triangle alone
                rotated[i] += unit * inverse_factor[j, i]
    for j in range(len(phi)):  # each sum waits for its last addition: two at once
        value += phi[j] * weights[j]
        square += rotated[j] * rotated[j]
    return value + exploration * math.sqrt(square)


@inner_bare
def score_action(
    event: Event, flat: bool, choice: IntArray, sums: FloatArray, scratch: Scratch
) -> float:
    """UCB score of a whole action; ``sums`` gets the sums of hidden units."""
    if flat:
        return _score_flat_action(event, choice, sums[0], scratch)
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
def _score_flat_action(
    event: Event, choice: IntArray, total: FloatArray, scratch: Scratch
) -> float:
    flows = len(event.chunks)
    for k in range(len(total)):
        total[k] = event.base[0, k]
    for f in range(flows):
        share = choice[f] / event.chunks[f]
        for k in range(len(total)):
            total[k] += share * event.effect[2 * f, k]
    for s in range(len(event.start) - 1):
        if sends(event, choice, s, -1):
            power = event.levels[choice[flows + s]]
            for k in range(len(total)):
                total[k] += power * event.effect[2 * s + 1, k]
    return _score_sums(event, total, scratch)


@inner_bare
def score_counts(
    event: Event,
    flat: bool,
    beam: Beam,
    flow: int,
    tried: int,
    scratch: Scratch,
    candidates: Candidates,
) -> None:
    """Score the counts of one flow in every survivor."""
    sender = event.group[flow]
    for b in range(len(beam.score)):
        choice, level = beam.choice[b], beam.choice[b, len(event.chunks) + sender]
        if flat:
            _score_flat_counts(event, beam, b, flow, tried, scratch, candidates)
            continue
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
def _score_flat_counts(
    event: Event,
    beam: Beam,
    b: int,
    flow: int,
    tried: int,
    scratch: Scratch,
    candidates: Candidates,
) -> None:
    choice, sender, chunks = beam.choice[b], event.group[flow], event.chunks[flow]
    share, power, rest = event.effect[2 * flow], event.effect[2 * sender + 1], scratch.siblings
    before, others = choice[flow] / chunks, sends(event, choice, sender, flow)
    budget = _power(event, choice[len(event.chunks) + sender])
    spent = budget if others or before > 0 else 0.0
    for k in range(len(rest)):
        rest[k] = beam.sums[b, 0, k] - before * share[k] - spent * power[k]
    for option in range(tried):
        part, varied = candidates.value[option] / chunks, candidates.sums[b, option]
        watts = budget if others or part > 0 else 0.0
        for k in range(len(rest)):
            varied[k] = rest[k] + part * share[k] + watts * power[k]
        candidates.score[b, option] = _score_sums(event, varied, scratch)


@inner_bare
def score_levels(
    event: Event, flat: bool, beam: Beam, sender: int, scratch: Scratch, candidates: Candidates
) -> None:
    """Score the levels of one sender in every survivor; a silent sender has no choice."""
    flows = len(event.chunks)
    _clear(scratch.siblings)
    for b in range(len(beam.score)):
        choice, now = beam.choice[b], beam.choice[b, flows + sender]
        active = sends(event, choice, sender, -1)
        if not flat:
            _settle(event, beam.sums[b], sender, scratch)
        for level in range(len(event.levels)):
            varied = candidates.sums[b, level]
            candidates.score[b, level] = -np.inf
            if not active and level != max(now, 0):
                continue
            if flat:
                more = event.levels[level] - _power(event, now) if active else 0.0
                for k in range(len(varied)):
                    varied[k] = beam.sums[b, 0, k] + more * event.effect[2 * sender + 1, k]
                candidates.score[b, level] = _score_sums(event, varied, scratch)
            else:
                _clear(varied)
                for m in range(event.start[sender], event.start[sender + 1]):
                    f = event.members[m]
                    _add_flow(event, f, choice[f], level, varied)
                candidates.score[b, level] = _score_change(event, sender, varied, scratch)


@inner_bare
def _power(event: Event, level: int) -> float:
    """Power of a level; 0 if the level is still open (-1)."""
    return event.levels[level] if level >= 0 else 0.0


@inner_bare
def _score_sums(event: Event, sums: FloatArray, scratch: Scratch) -> float:
    """UCB score of the action with these sums of the first layer."""
    phi, dense = scratch.phi, event.dense
    for j in range(len(phi)):
        phi[j] = event.bias[j]
    for k in range(len(sums)):
        unit = sums[k]
        if unit > 0.0:
            for j in range(len(phi)):
                phi[j] += unit * dense[k, j]
    return upper_confidence(event, scratch)


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
