"""Forward and backward through the encoder phi_theta, and its training (eq:bandit_representation).

A sample is a row per flow. It is taken through both layers and back before the next one is looked
at, so that everything it needs stays in the nearest cache, however large the batch. Kernels are
given layers that are as wide as whole lanes (`widened`). Arrays are made outside of the kernels and
copied element by element inside: both save seconds of compiling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import Descent, add_slopes, descend, pass_back, rectified
from thzsync.coordinator.encoder import Batch, Encoder
from thzsync.jit import bare, inner_bare
from thzsync.jit.lanes import LANES, eight, put_eight, where_more, where_same, whole_lanes


class Scratch(NamedTuple):
    """What one sample leaves behind on its way forward, and the slopes on its way back."""

    hidden: FloatArray
    """(flows, flow units)."""
    hidden_slope: FloatArray
    sums: FloatArray
    """(senders, flow units): hidden units summed over a sender's flows; later their slopes."""
    per_member: FloatArray
    """One over the flows of every sender; zero for a sender without any."""
    winner: FloatArray
    """Sender with the largest mean, per flow unit."""
    pooled: FloatArray
    """(1, 2 x flow units)."""
    pooled_slope: FloatArray
    phi: FloatArray
    """(1, units)."""
    phi_slope: FloatArray
    transposed: FloatArray
    """The dense layer with a row per unit, as it was when the batch began."""


def encode(encoder: Encoder, batch: Batch) -> FloatArray:
    """phi of every sample, one row each."""
    wide, _ = widened(encoder, np.zeros(encoder.size))
    result = np.ones((len(batch.group), encoder.size))
    _encode(wide, batch, scratch_for(wide, batch), result)
    return result


def fit(
    encoder: Encoder,
    head: FloatArray,
    memory: Batch,
    draws: IntArray,
    targets: FloatArray,
    how: Descent,
) -> tuple[Encoder, FloatArray]:
    """Encoder and head after one step of AdamW on the squared error per row of ``draws``.

    A row of ``draws`` names the samples of one step by their place in ``memory``; ``targets`` has
    the same shape. Deterministic: no random numbers, a fresh optimiser.
    """
    wide = widened(encoder, head)
    flat = np.concatenate([weights.ravel() for weights in (*wide[0], wide[1])])
    trained, slope = unpacked(flat, wide[0]), np.zeros_like(flat)
    moments = np.zeros_like(flat), np.zeros_like(flat)
    scratch = scratch_for(wide[0], memory)
    slopes = unpacked(slope, wide[0])
    _descend_all((flat, slope, *moments), *trained, slopes, scratch, memory, draws, targets, how)
    return narrowed(*trained, encoder)


def widened(encoder: Encoder, head: FloatArray) -> tuple[Encoder, FloatArray]:
    """The same in whole lanes; what fills them up is zero and stays so in training.

    The head's weight of the constant still follows those of the units.
    """
    (inputs, hidden), units = encoder.flow.shape, len(encoder.dense_bias)
    pools, wide, wider = len(encoder.dense) // hidden, whole_lanes(hidden), whole_lanes(units)
    flow, dense = np.zeros((inputs, wide)), np.zeros((pools, wide, wider))
    flow_bias, dense_bias, wide_head = np.zeros(wide), np.zeros(wider), np.zeros(wider + LANES)
    flow[:, :hidden], flow_bias[:hidden] = encoder.flow, encoder.flow_bias
    dense[:, :hidden, :units] = encoder.dense.reshape(pools, hidden, units)
    dense_bias[:units] = encoder.dense_bias
    wide_head[:units], wide_head[wider] = head[:units], head[units]
    return Encoder(flow, flow_bias, dense.reshape(-1, wider), dense_bias), wide_head


def narrowed(wide: Encoder, head: FloatArray, like: Encoder) -> tuple[Encoder, FloatArray]:
    """The inverse of ``widened``."""
    hidden, units = len(like.flow_bias), len(like.dense_bias)
    dense = wide.dense.reshape(-1, wide.flow.shape[1], len(wide.dense_bias))
    encoder = Encoder(
        wide.flow[:, :hidden].copy(),
        wide.flow_bias[:hidden].copy(),
        dense[:, :hidden, :units].copy().reshape(like.dense.shape),
        wide.dense_bias[:units].copy(),
    )
    return encoder, np.append(head[:units], head[len(wide.dense_bias)])


def unpacked(flat: FloatArray, like: Encoder) -> tuple[Encoder, FloatArray]:
    """Encoder and head as views of one flat array: weights in a row are stepped in one loop."""
    a = like.flow.size
    b = a + like.flow_bias.size
    c = b + like.dense.size
    d = c + like.dense_bias.size
    encoder = Encoder(
        flat[:a].reshape(like.flow.shape),
        flat[a:b],
        flat[b:c].reshape(like.dense.shape),
        flat[c:d],
    )
    return encoder, flat[d:]


@bare
def gradient(
    encoder: Encoder,
    head: FloatArray,
    memory: Batch,
    drawn: IntArray,
    target: FloatArray,
    slopes: tuple[Encoder, FloatArray],
    scratch: Scratch,
) -> float:
    """The mean squared error over the drawn samples; its gradient is added to ``slopes``."""
    loss = 0.0
    for k in range(len(encoder.dense)):
        for j in range(len(encoder.dense_bias)):
            scratch.transposed[j, k] = encoder.dense[k, j]
    for s in range(len(drawn)):
        group = memory.group[drawn[s]]
        flows = _filled(group)
        rows = memory.rows[drawn[s], :flows]
        _forward(encoder, rows, group, scratch)
        phi = scratch.phi[0]
        miss = head[len(phi)] - target[s]
        for j in range(len(phi)):
            miss += head[j] * phi[j]
        loss += miss * miss / len(drawn)
        _backward(head, rows, group, 2.0 * miss / len(drawn), slopes, scratch)
    return loss


def scratch_for(encoder: Encoder, batch: Batch) -> Scratch:
    """Room for the widest sample."""
    slots, senders = batch.group.shape[1], int(batch.group.max(initial=0)) + 1
    pooled, units = encoder.dense.shape
    return Scratch(
        hidden=np.zeros((slots, pooled // 2)),
        hidden_slope=np.zeros((slots, pooled // 2)),
        sums=np.zeros((senders, pooled // 2)),
        per_member=np.zeros(senders),
        winner=np.zeros(pooled // 2),
        pooled=np.zeros((1, pooled)),
        pooled_slope=np.zeros((1, pooled)),
        phi=np.zeros((1, units)),
        phi_slope=np.zeros((1, units)),
        transposed=np.zeros((units, pooled)),
    )


@bare
def _descend_all(
    flat: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    encoder: Encoder,
    head: FloatArray,
    slopes: tuple[Encoder, FloatArray],
    scratch: Scratch,
    memory: Batch,
    draws: IntArray,
    targets: FloatArray,
    how: Descent,
) -> None:
    """Every step; encoder, head and slopes are views of the first two flat arrays."""
    weights, slope, mean, square = flat
    for step in range(len(draws)):
        for p in range(len(slope)):
            slope[p] = 0.0
        gradient(encoder, head, memory, draws[step], targets[step], slopes, scratch)
        descend(weights, slope, mean, square, step + 1, how)


@bare
def _encode(encoder: Encoder, batch: Batch, scratch: Scratch, result: FloatArray) -> None:
    phi = scratch.phi
    for s in range(len(batch.group)):
        group = batch.group[s]
        _forward(encoder, batch.rows[s, : _filled(group)], group, scratch)
        for j in range(result.shape[1] - 1):
            result[s, j] = phi[0, j]


@inner_bare
def _filled(group: IntArray) -> int:
    """Slots before the first empty one."""
    for f in range(len(group)):
        if group[f] < 0:
            return f
    return len(group)


@inner_bare
def _forward(encoder: Encoder, rows: FloatArray, group: IntArray, scratch: Scratch) -> None:
    """phi of one sample, without its constant, into ``scratch``."""
    rectified(rows, encoder.flow, encoder.flow_bias, scratch.hidden)
    _sum_senders(scratch.hidden, group, len(rows), scratch.sums, scratch.per_member)
    _pool(scratch.sums, scratch.per_member, len(rows), scratch.pooled[0], scratch.winner)
    rectified(scratch.pooled, encoder.dense, encoder.dense_bias, scratch.phi)


@inner_bare
def _sum_senders(
    hidden: FloatArray, group: IntArray, flows: int, sums: FloatArray, per_member: FloatArray
) -> None:
    for g in range(len(per_member)):
        per_member[g] = 0.0
        for k in range(hidden.shape[1]):
            sums[g, k] = 0.0
    for f in range(flows):
        sender = group[f]
        per_member[sender] += 1.0
        for k in range(0, hidden.shape[1], LANES):
            put_eight(sums, (sender, k), eight(sums, (sender, k)) + eight(hidden, (f, k)))
    for g in range(len(per_member)):
        per_member[g] = 1.0 / per_member[g] if per_member[g] > 0.0 else 0.0


@inner_bare
def _pool(
    sums: FloatArray, per_member: FloatArray, flows: int, pooled: FloatArray, winner: FloatArray
) -> None:
    """Mean over all flows, then the largest mean over one sender's flows; the first wins a tie."""
    hidden, per_flow = sums.shape[1], 1.0 / flows
    for k in range(0, hidden, LANES):
        average = eight(sums, (0, k)) * per_flow
        mean = eight(sums, (0, k)) * per_member[0]
        most, leader = where_more(mean, 0.0, mean, 0.0), mean * 0.0
        for g in range(1, len(per_member)):
            total = eight(sums, (g, k))
            mean = total * per_member[g]
            average = average + total * per_flow
            leader = where_more(mean, most, float(g), leader)
            most = where_more(mean, most, mean, most)
        put_eight(pooled, k, average)
        put_eight(pooled, hidden + k, most)
        put_eight(winner, k, leader)


@inner_bare
def _backward(
    head: FloatArray,
    rows: FloatArray,
    group: IntArray,
    slope: float,
    slopes: tuple[Encoder, FloatArray],
    scratch: Scratch,
) -> None:
    """Add the gradient of one sample, whose value has this slope; ``_forward`` came before."""
    added, head_slope = slopes
    phi, flows = scratch.phi[0], len(rows)
    for j in range(0, len(phi), LANES):
        unit = eight(phi, j)
        put_eight(head_slope, j, eight(head_slope, j) + slope * unit)
        put_eight(scratch.phi_slope, (0, j), where_more(unit, 0.0, slope * eight(head, j), 0.0))
    head_slope[len(phi)] += slope
    add_slopes(scratch.pooled, scratch.phi_slope, added.dense, added.dense_bias)
    pass_back(scratch.phi_slope, scratch.transposed, scratch.pooled_slope)
    _share_out(scratch.pooled_slope[0], scratch.per_member, flows, scratch.winner, scratch.sums)
    hidden, below = scratch.hidden[:flows], scratch.hidden_slope[:flows]
    for f in range(flows):
        for k in range(0, hidden.shape[1], LANES):
            passed = eight(scratch.sums, (group[f], k))
            put_eight(below, (f, k), where_more(eight(hidden, (f, k)), 0.0, passed, 0.0))
    add_slopes(rows, below, added.flow, added.flow_bias)


@inner_bare
def _share_out(
    pooled: FloatArray, per_member: FloatArray, flows: int, winner: FloatArray, sums: FloatArray
) -> None:
    """Slope that each flow of a sender gets from both pools, into ``sums``."""
    hidden, per_flow = sums.shape[1], 1.0 / flows
    for g in range(len(per_member)):
        for k in range(0, hidden, LANES):
            most = eight(pooled, hidden + k) * per_member[g]
            most = where_same(eight(winner, k), float(g), most, 0.0)
            put_eight(sums, (g, k), eight(pooled, k) * per_flow + most)
