"""Scores of candidates under the paper's flat encoder.

A candidate differs from its survivor in one or two numbers of the action. The search keeps the
first layer's sums before their rectifiers, and each candidate adds the difference.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import Beam, Candidates
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import FLAT_ACTION_COLUMNS
from thzsync.coordinator.scoring import Event, Scratch, sends, upper_confidence
from thzsync.jit import inner, inner_bare


@inner
def action_rows(encoder: Encoder, flows: int, contexts: int) -> FloatArray:
    """What flow f's share (row 2 f) and sender f's power (row 2 f + 1) add to the first layer."""
    rows, size = np.empty((2 * flows, len(encoder.flow_bias))), contexts + FLAT_ACTION_COLUMNS
    for f in range(flows):
        for k in range(rows.shape[1]):
            rows[2 * f, k] = encoder.flow[f * size + contexts, k]
            rows[2 * f + 1, k] = encoder.flow[f * size + contexts + 1, k]
    return rows


@inner_bare
def score_flat_action(event: Event, choice: IntArray, sums: FloatArray, scratch: Scratch) -> float:
    """UCB score of a whole action; ``sums`` gets the first layer's sums."""
    total, flows = sums[0], len(event.chunks)
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
def score_flat_counts(
    event: Event, beam: Beam, flow: int, tried: int, scratch: Scratch, candidates: Candidates
) -> None:
    """Score the counts of one flow in every survivor."""
    sender, chunks, rest = event.group[flow], event.chunks[flow], scratch.siblings
    share, power = event.effect[2 * flow], event.effect[2 * sender + 1]
    for b in range(len(beam.score)):
        choice = beam.choice[b]
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
def score_flat_levels(
    event: Event, beam: Beam, sender: int, scratch: Scratch, candidates: Candidates
) -> None:
    """Score the levels of one sender in every survivor; a silent sender has no choice."""
    power = event.effect[2 * sender + 1]
    for b in range(len(beam.score)):
        choice = beam.choice[b]
        active, now = sends(event, choice, sender, -1), choice[len(event.chunks) + sender]
        before = _power(event, now) if active else 0.0
        for level in range(len(event.levels)):
            varied, after = candidates.sums[b, level], event.levels[level] if active else 0.0
            for k in range(len(power)):
                varied[k] = beam.sums[b, 0, k] + (after - before) * power[k]
            candidates.score[b, level] = -np.inf
            if active or level == max(now, 0):
                candidates.score[b, level] = _score_sums(event, varied, scratch)


@inner_bare
def _power(event: Event, level: int) -> float:
    """Power of a level; 0 if the level is still open (-1)."""
    return event.levels[level] if level >= 0 else 0.0


@inner_bare
def _score_sums(event: Event, sums: FloatArray, scratch: Scratch) -> float:
    """UCB score of the action that makes the first layer's sums these."""
    phi, dense = scratch.phi, event.dense
    for j in range(len(phi)):
        phi[j] = event.bias[j]
    for k in range(len(sums)):
        unit = sums[k]
        if unit > 0.0:
            for j in range(len(phi)):
                phi[j] += unit * dense[k, j]
    return upper_confidence(event, scratch)
