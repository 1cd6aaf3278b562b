"""The paper's encoder to the letter: one padded, masked vector of all flows and the whole action.

Slot f of the vector holds flow f's context (eq:bandit_flow_context), a mask, its THz share and, so
that one layout serves all events, the power of sender f (eq:bandit_action_vector); what an event
does not fill is zero. Two layers of rectified units and a constant make phi. The first layer has a
row of weights per entry of the vector, so it grows with the widest event that it has met.

A candidate differs from its survivor in one entry or two: the search keeps the first layer's sums
before their rectifiers and adds what has changed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import Search
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import FIXED_COLUMNS, Features
from thzsync.coordinator.scoring import Head, upper_confidence
from thzsync.coordinator.survivors import Beam, Trial, charge, copy_survivor, empty_trial, survive
from thzsync.coordinator.uniform import list_uniform, spread_count
from thzsync.jit import bare, kernel

ACTIONS: Final = 2
"""Entries of a slot that the action fills: the flow's THz share, and a sender's power."""
MASK: Final = FIXED_COLUMNS - 1
"""The entry that is 1 in every slot that holds a flow."""


def flat_columns(subbands: int) -> int:
    """Entries of one slot."""
    return FIXED_COLUMNS + subbands + ACTIONS


def random_flat_encoder(first: int, units: int, generator: np.random.Generator) -> Encoder:
    """An encoder that has no slots yet; the second layer is scaled for rectifiers."""
    return Encoder(
        np.zeros((0, first)),
        generator.uniform(-0.5, 0.5, first),
        generator.normal(0.0, np.sqrt(2 / first), (first, units)),
        generator.uniform(-0.5, 0.5, units),
    )


def grown(encoder: Encoder, columns: int, slots: int, generator: np.random.Generator) -> Encoder:
    """The encoder with weights for at least so many slots; what it has learnt stays."""
    missing = slots - len(encoder.flow) // columns
    if missing <= 0:
        return encoder
    shape = missing * columns, encoder.flow.shape[1]
    # All entries of the vector add to one sum, so their weights' spread falls with their number.
    more = generator.normal(0.0, np.sqrt(2 / (columns * slots)), shape)
    return encoder._replace(flow=np.concatenate((encoder.flow, more)))


@kernel
def represent_flat(encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
    """phi of one event and action; ``action`` holds shares and powers, slot by slot."""
    sums = _context(encoder, features)
    flows, contexts = features.rows.shape
    size = contexts + action.shape[1]
    for f in range(flows):
        for c in range(action.shape[1]):
            for k in range(len(sums)):
                sums[k] += action[f, c] * encoder.flow[f * size + contexts + c, k]
    phi = np.ones(len(encoder.dense_bias) + 1)
    for j in range(len(encoder.dense_bias)):
        phi[j] = encoder.dense_bias[j]
        for k in range(len(sums)):
            phi[j] += max(sums[k], 0.0) * encoder.dense[k, j]
        phi[j] = max(phi[j], 0.0)
    return phi


@kernel
def _context(encoder: Encoder, features: Features) -> FloatArray:
    """What the context alone adds to the first layer."""
    flows, contexts = features.rows.shape
    size = contexts + ACTIONS
    sums = encoder.flow_bias.copy()
    for f in range(flows):
        for c in range(contexts):
            value = features.rows[f, c]
            if value != 0.0:
                for k in range(len(sums)):
                    sums[k] += value * encoder.flow[f * size + c, k]
    return sums


class Board(NamedTuple):
    """What stays the same while one event is searched, and scratch."""

    base: FloatArray
    """First layer before its rectifier, from the context alone."""
    share: FloatArray
    """What a flow's share adds (flow, unit)."""
    power: FloatArray
    """What a sender's power adds (sender, unit)."""
    dense: FloatArray
    """The second layer with a column of zeros for the constant in phi."""
    bias: FloatArray
    """Its bias, and the constant."""
    features: Features
    head: Head
    levels: FloatArray
    phi: FloatArray
    rotated: FloatArray


@kernel
def _board(encoder: Encoder, features: Features, head: Head, levels: FloatArray) -> Board:
    flows, contexts = features.rows.shape
    senders, size = len(features.start) - 1, contexts + ACTIONS
    hidden, units = len(encoder.flow_bias), len(encoder.dense_bias)
    share, power = np.empty((flows, hidden)), np.empty((senders, hidden))
    for f in range(flows):
        share[f] = encoder.flow[f * size + contexts]
    for s in range(senders):
        power[s] = encoder.flow[s * size + contexts + 1]
    dense, bias = np.zeros((hidden, units + 1)), np.ones(units + 1)
    dense[:, :units] = encoder.dense
    bias[:units] = encoder.dense_bias
    base = _context(encoder, features)
    scratch = np.zeros((2, units + 1))
    return Board(base, share, power, dense, bias, features, head, levels, scratch[0], scratch[1])


@bare
def _score(board: Board, sums: FloatArray) -> float:
    """UCB score of the action that makes the first layer's sums these."""
    phi, dense, bias = board.phi, board.dense, board.bias
    for j in range(len(phi)):
        phi[j] = bias[j]
    for k in range(len(sums)):
        unit = sums[k]
        if unit > 0.0:
            for j in range(len(phi)):
                phi[j] += unit * dense[k, j]
    head = board.head
    return upper_confidence(head.weights, head.inverse_factor, head.exploration, phi, board.rotated)


@kernel
def search_flat(
    encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
) -> tuple[IntArray, IntArray, float]:
    """THz chunks per flow, level index per sender, and the score of the best action found."""
    flows, senders = len(features.chunks), len(features.start) - 1
    width, options = how.beam_width, max(how.count_levels, len(levels))
    board = _board(encoder, features, head, levels)
    hidden = len(board.base)
    beam = _empty(width, flows, senders, hidden)
    spare = beam if width == 1 else _empty(width, flows, senders, hidden)
    if how.partial:
        beam.score[0] = _score(board, board.base)
        beam.sums[0, 0] = board.base
    else:
        _seed(board, beam, how.count_levels)
    trial = empty_trial(width, options, hidden, 0)
    for coordinate in range(flows + senders):
        if coordinate < flows:
            group = features.group[coordinate]
            tried = _try_counts(board, beam, coordinate, how.count_levels, trial)
        else:
            group = coordinate - flows
            tried = _try_levels(board, beam, group, trial)
        charge(beam, trial, tried, coordinate, group, how.deviation_cost)
        survive(beam, spare, trial, tried, coordinate, group, 0)
        beam, spare = spare, beam
    score = beam.score[0] + how.deviation_cost * beam.deviations[0]
    return beam.counts[0], beam.level[0], score


@kernel
def _empty(width: int, flows: int, senders: int, hidden: int) -> Beam:
    """No survivors; a level of -1 is open, its power zero."""
    return Beam(
        np.zeros((width, flows), dtype=np.int64),
        np.full((width, senders), -1, dtype=np.int64),
        np.zeros((width, 1, hidden)),
        np.full(width, -np.inf),
        np.zeros(width, dtype=np.int64),
    )


@kernel
def _seed(board: Board, beam: Beam, count_levels: int) -> None:
    """Fill the beam with the best uniform actions."""
    levels = len(board.levels)
    step = np.empty(count_levels * levels, dtype=np.int64)
    level = np.empty(count_levels * levels, dtype=np.int64)
    tried = list_uniform(board.features.chunks, levels, count_levels, step, level)
    for a in range(tried):
        _insert_uniform(board, beam, step[a], level[a], count_levels)


@kernel
def _insert_uniform(board: Board, beam: Beam, step: int, level: int, count_levels: int) -> None:
    """Score one uniform action and put it in its place, if it has one."""
    chunks, group = board.features.chunks, board.features.group
    sums, active = board.base.copy(), np.zeros(beam.level.shape[1])
    for f in range(len(chunks)):
        count = spread_count(chunks[f], step, count_levels)
        active[group[f]] = 1.0 if count > 0 else active[group[f]]
        sums += count / chunks[f] * board.share[f]
    for s in range(len(active)):
        sums += active[s] * board.levels[level] * board.power[s]
    value = _score(board, sums)
    place = len(beam.score)
    while place > 0 and value > beam.score[place - 1]:
        place -= 1
    if place == len(beam.score):
        return
    for b in range(len(beam.score) - 1, place, -1):
        copy_survivor(beam, b - 1, beam, b)
    beam.score[place] = value
    beam.level[place] = level
    beam.sums[place, 0] = sums
    for f in range(len(chunks)):
        beam.counts[place, f] = spread_count(chunks[f], step, count_levels)


@kernel
def _try_counts(board: Board, beam: Beam, flow: int, count_levels: int, trial: Trial) -> int:
    """Score the counts of one flow in every survivor; how many counts there are."""
    features, values, sums = board.features, trial.value, trial.sums
    sender, chunks = features.group[flow], features.chunks[flow]
    share, power = board.share[flow], board.power[sender]
    tried: int = min(chunks, count_levels - 1) + 1
    for option in range(tried):
        few = chunks < count_levels
        values[option] = option if few else spread_count(chunks, option, count_levels)
    rest = np.empty(len(share))
    for b in range(len(beam.score)):
        before = beam.counts[b, flow]
        others = _sends(features, beam.counts[b], sender, flow)
        level = beam.level[b, sender]
        budget = board.levels[level] if level >= 0 else 0.0
        spent = budget if others or before > 0 else 0.0
        for k in range(len(rest)):
            rest[k] = beam.sums[b, 0, k] - before / chunks * share[k] - spent * power[k]
        for option in range(tried):
            part = values[option] / chunks
            watts = budget if others or values[option] > 0 else 0.0
            for k in range(len(rest)):
                sums[b, option, k] = rest[k] + part * share[k] + watts * power[k]
            trial.score[b, option] = _score(board, sums[b, option])
    return tried


@bare
def _try_levels(board: Board, beam: Beam, sender: int, trial: Trial) -> int:
    """Score the levels of one sender in every survivor; a silent sender has no choice."""
    power, levels = board.power[sender], board.levels
    for b in range(len(beam.score)):
        active = _sends(board.features, beam.counts[b], sender, -1)
        level = beam.level[b, sender]
        before = levels[level] if active and level >= 0 else 0.0
        for p in range(len(levels)):
            after = levels[p] if active else 0.0
            for k in range(len(power)):
                trial.sums[b, p, k] = beam.sums[b, 0, k] + (after - before) * power[k]
            trial.value[p] = p
            trial.score[b, p] = -np.inf
            if active or p == max(level, 0):
                trial.score[b, p] = _score(board, trial.sums[b, p])
    return len(levels)


@bare
def _sends(features: Features, counts: IntArray, sender: int, but: int) -> bool:
    """Whether a sender has THz chunks in any flow but one."""
    for m in range(features.start[sender], features.start[sender + 1]):
        flow = features.members[m]
        if flow != but and counts[flow] > 0:
            return True
    return False
