"""Forward and backward through the encoder phi_theta, and its training (eq:bandit_representation).

Samples pass both layers forward and backward in blocks. The pooled encoder takes one sample at a
time, so that all its numbers stay in the nearest cache. The flat encoder takes a whole batch at a
time, because its first layer has tens of thousands of weights. Arrays are made outside of the
kernels and copied element by element inside; both save seconds of compiling.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import (
    Descent,
    add_slopes,
    close_silent,
    descend,
    pass_back,
    rectified,
)
from thzsync.coordinator.encoder import Batch, Encoder, filled, is_flat
from thzsync.jit import bare, inner_bare

ENCODED_AT_ONCE: Final = 64
"""Samples in a block of a flat encoder that only encodes."""


class Scratch(NamedTuple):
    """What a block of samples leaves on its way forward, and the slopes on its way back."""

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
    """Inputs of the second layer (samples, inputs)."""
    pooled_slope: FloatArray
    phi: FloatArray
    """(samples, units)."""
    phi_slope: FloatArray
    transposed: FloatArray
    """The second layer with a row per unit, as it was when the batch began."""


def encode(encoder: Encoder, batch: Batch) -> FloatArray:
    """phi of every sample, one row each."""
    result = np.ones((len(batch.group), encoder.size))
    scratch = scratch_for(encoder, batch, ENCODED_AT_ONCE)
    _encode(encoder, batch, np.zeros(len(scratch.phi), dtype=np.int64), scratch, result)
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
    flat = np.concatenate([weights.ravel() for weights in (*encoder, head)])
    trained, slope = unpacked(flat, encoder), np.zeros_like(flat)
    moments = np.zeros_like(flat), np.zeros_like(flat)
    scratch = scratch_for(encoder, memory, draws.shape[1])
    slopes = unpacked(slope, encoder)
    _descend_all((flat, slope, *moments), *trained, slopes, scratch, memory, draws, targets, how)
    return trained


def unpacked(flat: FloatArray, like: Encoder) -> tuple[Encoder, FloatArray]:
    """Encoder and head as views of one flat array, so that one loop steps all weights."""
    *weights, head = np.split(flat, np.cumsum([part.size for part in like]))
    return Encoder(*(w.reshape(p.shape) for w, p in zip(weights, like, strict=True))), head


def scratch_for(encoder: Encoder, batch: Batch, samples: int) -> Scratch:
    """Space for a block: so many samples of a flat encoder, or the widest sample of a pooled one.

    A flat encoder's second layer reads the hidden units directly.
    """
    (inputs, units), width, flat = encoder.dense.shape, encoder.flow.shape[1], is_flat(encoder)
    _, slots, columns = batch.rows.shape
    block, senders = (samples, 0) if flat else (1, int(batch.group.max(initial=0)) + 1)
    hidden, hidden_slope = np.zeros((2, samples if flat else slots, width))
    return Scratch(
        vectors=np.zeros((slots * columns if flat else 0, samples)),
        hidden=hidden,
        hidden_slope=hidden_slope,
        sums=np.zeros((senders, width)),
        per_member=np.zeros(senders),
        winner=np.zeros(width),
        pooled=hidden if flat else np.zeros((1, inputs)),
        pooled_slope=hidden_slope if flat else np.zeros((1, inputs)),
        phi=np.zeros((block, units)),
        phi_slope=np.zeros((block, units)),
        transposed=np.zeros((units, inputs)),
    )


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
    for first in range(0, len(drawn), len(scratch.phi)):
        block = drawn[first : first + len(scratch.phi)]
        _forward(encoder, memory, block, scratch)
        loss += _slope_of_phi(head, target[first:], len(drawn), slopes[1], scratch)
        _backward(encoder, memory, block, slopes[0], scratch)
    return loss


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
    """Take every step; encoder, head and slopes are views of the first two flat arrays."""
    weights, slope, mean, square = flat
    for step in range(len(draws)):
        for p in range(len(slope)):
            slope[p] = 0.0
        gradient(encoder, head, memory, draws[step], targets[step], slopes, scratch)
        descend(weights, slope, mean, square, step + 1, how)


@bare
def _encode(
    encoder: Encoder, batch: Batch, drawn: IntArray, scratch: Scratch, result: FloatArray
) -> None:
    for first in range(0, len(batch.group), len(drawn)):
        for s in range(len(drawn)):
            drawn[s] = min(first + s, len(batch.group) - 1)
        _forward(encoder, batch, drawn, scratch)
        for s in range(min(len(drawn), len(batch.group) - first)):
            for j in range(result.shape[1] - 1):
                result[first + s, j] = scratch.phi[s, j]


@inner_bare
def _forward(encoder: Encoder, memory: Batch, drawn: IntArray, scratch: Scratch) -> None:
    """phi of the drawn samples, without its constant, into ``scratch``."""
    if is_flat(encoder):
        _flat_forward(encoder, memory, drawn, scratch)
    else:
        _pooled_forward(encoder, memory, drawn[0], scratch)
    rectified(scratch.pooled, encoder.dense, encoder.dense_bias, scratch.phi)


@inner_bare
def _slope_of_phi(
    head: FloatArray, target: FloatArray, samples: int, head_slope: FloatArray, scratch: Scratch
) -> float:
    """The block's part of the loss; its slopes along the head and phi."""
    phi, phi_slope, loss = scratch.phi, scratch.phi_slope, 0.0
    units = phi.shape[1]
    for s in range(len(phi)):
        miss = head[units] - target[s]
        for j in range(units):
            miss += head[j] * phi[s, j]
        loss += miss * miss / samples
        slope = 2.0 * miss / samples
        for j in range(units):
            head_slope[j] += slope * phi[s, j]
            phi_slope[s, j] = slope * head[j]
        head_slope[units] += slope
    close_silent(phi, phi_slope)
    return loss


@inner_bare
def _backward(
    encoder: Encoder, memory: Batch, drawn: IntArray, added: Encoder, scratch: Scratch
) -> None:
    """Add the gradient of the drawn samples, whose slopes along phi are in ``scratch``."""
    add_slopes(scratch.pooled, scratch.phi_slope, added.dense, added.dense_bias)
    pass_back(scratch.phi_slope, scratch.transposed, scratch.pooled_slope)
    if is_flat(encoder):
        _flat_backward(scratch, added)
    else:
        _pooled_backward(memory, drawn[0], scratch, added)


@inner_bare
def _pooled_forward(encoder: Encoder, memory: Batch, sample: int, scratch: Scratch) -> None:
    """Mean over all flows, then the largest mean over one sender's flows; the first wins a tie."""
    sums, per_member, group = scratch.sums, scratch.per_member, memory.group[sample]
    flows, (senders, hidden) = filled(group), sums.shape
    rectified(memory.rows[sample, :flows], encoder.flow, encoder.flow_bias, scratch.hidden)
    for g in range(senders):
        per_member[g] = 0.0
        for k in range(hidden):
            sums[g, k] = 0.0
    for f in range(flows):
        per_member[group[f]] += 1.0
        for k in range(hidden):
            sums[group[f], k] += scratch.hidden[f, k]
    for g in range(senders):
        per_member[g] = 1.0 / per_member[g] if per_member[g] > 0.0 else 0.0
    pooled, per_flow = scratch.pooled[0], 1.0 / flows
    for k in range(hidden):
        average = sums[0, k] * per_flow
        most, leader = max(sums[0, k] * per_member[0], 0.0), 0.0
        for g in range(1, senders):
            mean = sums[g, k] * per_member[g]
            average += sums[g, k] * per_flow
            leader = float(g) if mean > most else leader
            most = mean if mean > most else most
        pooled[k], pooled[hidden + k], scratch.winner[k] = average, most, leader


@inner_bare
def _pooled_backward(memory: Batch, sample: int, scratch: Scratch, added: Encoder) -> None:
    """Add the gradient of the first layer, from the slopes of both pools."""
    sums, pooled, group = scratch.sums, scratch.pooled_slope[0], memory.group[sample]
    flows, (senders, units) = filled(group), sums.shape
    per_flow = 1.0 / flows
    for g in range(senders):
        for k in range(units):
            most = pooled[units + k] * scratch.per_member[g] if scratch.winner[k] == g else 0.0
            sums[g, k] = pooled[k] * per_flow + most
    hidden, below = scratch.hidden[:flows], scratch.hidden_slope[:flows]
    for f in range(flows):
        for k in range(units):
            below[f, k] = sums[group[f], k] if hidden[f, k] > 0.0 else 0.0
    add_slopes(memory.rows[sample, :flows], below, added.flow, added.flow_bias)


@inner_bare
def _flat_forward(encoder: Encoder, memory: Batch, drawn: IntArray, scratch: Scratch) -> None:
    """Hidden units of many samples.

    Weights are read once, row by row, while the sums of all samples stay in the nearest cache.
    Empty slots and false flags cost nothing.
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
def _flat_backward(scratch: Scratch, added: Encoder) -> None:
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
