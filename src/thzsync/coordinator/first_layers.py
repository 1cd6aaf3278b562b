"""First layers in training, forward and backward: of the pooled encoder, and of the flat one."""

from __future__ import annotations

from typing import NamedTuple

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import add_slopes, close_silent, rectified
from thzsync.coordinator.encoder import Batch, Encoder
from thzsync.jit import inner_bare


class Scratch(NamedTuple):
    """What a block of samples leaves behind on its way forward, and the slopes on its way back."""

    vectors: FloatArray
    """Of a flat encoder (entries, samples): the vectors, an entry of all samples in a row."""
    hidden: FloatArray
    """Hidden units, by flow of one sample (pooled), or by sample (flat)."""
    hidden_slope: FloatArray
    sums: FloatArray
    """(senders, units): hidden units summed over a sender's flows; later their slopes."""
    per_member: FloatArray
    """One over the flows of every sender; zero for a sender without any."""
    winner: FloatArray
    """Sender with the largest mean, per hidden unit."""
    pooled: FloatArray
    """What the second layer reads (samples, inputs)."""
    pooled_slope: FloatArray
    phi: FloatArray
    """(samples, units)."""
    phi_slope: FloatArray
    transposed: FloatArray
    """The second layer with a row per unit, as it was when the batch began."""


@inner_bare
def pooled_forward(encoder: Encoder, memory: Batch, sample: int, scratch: Scratch) -> None:
    """Both pools of one sample."""
    group = memory.group[sample]
    flows = _filled(group)
    rows = memory.rows[sample, :flows]
    rectified(rows, encoder.flow, encoder.flow_bias, scratch.hidden)
    _sum_senders(scratch.hidden, group, flows, scratch.sums, scratch.per_member)
    _pool(scratch.sums, scratch.per_member, flows, scratch.pooled[0], scratch.winner)


@inner_bare
def pooled_backward(memory: Batch, sample: int, scratch: Scratch, added: Encoder) -> None:
    """Add the gradient of the first layer, from the slopes of both pools."""
    group = memory.group[sample]
    flows = _filled(group)
    _share_out(scratch.pooled_slope[0], scratch.per_member, flows, scratch.winner, scratch.sums)
    hidden, below = scratch.hidden[:flows], scratch.hidden_slope[:flows]
    for f in range(flows):
        for k in range(hidden.shape[1]):
            below[f, k] = scratch.sums[group[f], k] if hidden[f, k] > 0.0 else 0.0
    add_slopes(memory.rows[sample, :flows], below, added.flow, added.flow_bias)


@inner_bare
def _filled(group: IntArray) -> int:
    """Slots before the first empty one."""
    for f in range(len(group)):
        if group[f] < 0:
            return f
    return len(group)


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
        for k in range(hidden.shape[1]):
            sums[sender, k] += hidden[f, k]
    for g in range(len(per_member)):
        per_member[g] = 1.0 / per_member[g] if per_member[g] > 0.0 else 0.0


@inner_bare
def _pool(
    sums: FloatArray, per_member: FloatArray, flows: int, pooled: FloatArray, winner: FloatArray
) -> None:
    """Mean over all flows, then the largest mean over one sender's flows; the first wins a tie."""
    hidden, per_flow = sums.shape[1], 1.0 / flows
    for k in range(hidden):
        average = sums[0, k] * per_flow
        most, leader = max(sums[0, k] * per_member[0], 0.0), 0.0
        for g in range(1, len(per_member)):
            mean = sums[g, k] * per_member[g]
            average += sums[g, k] * per_flow
            leader = float(g) if mean > most else leader
            most = mean if mean > most else most
        pooled[k], pooled[hidden + k], winner[k] = average, most, leader


@inner_bare
def _share_out(
    pooled: FloatArray, per_member: FloatArray, flows: int, winner: FloatArray, sums: FloatArray
) -> None:
    """Slope that each flow of a sender gets from both pools, into ``sums``."""
    hidden, per_flow = sums.shape[1], 1.0 / flows
    for g in range(len(per_member)):
        for k in range(hidden):
            most = pooled[hidden + k] * per_member[g] if winner[k] == g else 0.0
            sums[g, k] = pooled[k] * per_flow + most


@inner_bare
def flat_forward(encoder: Encoder, memory: Batch, drawn: IntArray, scratch: Scratch) -> None:
    """Hidden units of many samples.

    Weights pass by once, row by row, while the sums of all samples stay in the nearest cache. Empty
    slots and dropped flags cost nothing.
    """
    vectors, hidden, columns = scratch.vectors, scratch.hidden, memory.rows.shape[2]
    samples, units = hidden.shape
    for s in range(samples):
        for k in range(units):
            hidden[s, k] = encoder.flow_bias[k]
    for c in range(len(vectors)):
        row = encoder.flow[c]
        for s in range(samples):
            value = memory.rows[drawn[s], c // columns, c % columns]
            vectors[c, s] = value
            if value != 0.0:
                for k in range(units):
                    hidden[s, k] += value * row[k]
    for s in range(samples):
        for k in range(units):
            hidden[s, k] = max(hidden[s, k], 0.0)


@inner_bare
def flat_backward(scratch: Scratch, added: Encoder) -> None:
    """Add the gradient of the first layer, from the slopes of its hidden units."""
    vectors, slope = scratch.vectors, scratch.hidden_slope
    samples, units = slope.shape
    close_silent(scratch.hidden, slope)
    for s in range(samples):
        for k in range(units):
            added.flow_bias[k] += slope[s, k]
    for c in range(len(vectors)):
        row = added.flow[c]
        for s in range(samples):
            value = vectors[c, s]
            if value != 0.0:
                for k in range(units):
                    row[k] += value * slope[s, k]
