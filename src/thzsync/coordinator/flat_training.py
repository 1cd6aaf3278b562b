"""Forward and backward through the flat encoder, batch by batch, and its training.

The first layer has tens of thousands of weights. A batch is taken through it weight row by weight
row, so that sums of all samples stay in the nearest cache while the weights pass by once.
"""

from __future__ import annotations

from typing import NamedTuple

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
from thzsync.coordinator.encoder import Batch, Encoder
from thzsync.coordinator.training import narrowed, unpacked, widened
from thzsync.jit import bare, kernel


class Scratch(NamedTuple):
    """What a batch leaves behind on its way forward, and the slopes on its way back."""

    vectors: FloatArray
    """(entries, samples): the padded vectors, an entry of all samples in a row."""
    hidden: FloatArray
    """(samples, first units)."""
    hidden_slope: FloatArray
    phi: FloatArray
    phi_slope: FloatArray
    transposed: FloatArray
    """The second layer with a row per unit."""


def encode_flat(encoder: Encoder, batch: Batch) -> FloatArray:
    """phi of every sample, one row each."""
    wide, _ = widened(encoder, np.zeros(encoder.size))
    result = np.ones((len(batch.group), encoder.size))
    _encode(wide, batch, result)
    return result


def fit_flat(
    encoder: Encoder,
    head: FloatArray,
    memory: Batch,
    draws: IntArray,
    targets: FloatArray,
    how: Descent,
) -> tuple[Encoder, FloatArray]:
    """Like ``training.fit``: one step of AdamW on the squared error per row of ``draws``."""
    wide = widened(encoder, head)
    flat = np.concatenate([weights.ravel() for weights in (*wide[0], wide[1])])
    trained, slope = unpacked(flat, wide[0]), np.zeros_like(flat)
    slopes = unpacked(slope, wide[0])
    _fit(flat, slope, *trained, slopes, memory, draws, targets, how)
    return narrowed(*trained, encoder)


@kernel
def scratch_for(encoder: Encoder, memory: Batch, samples: int) -> Scratch:
    """Room for a batch of so many samples."""
    entries = memory.rows.shape[1] * memory.rows.shape[2]
    first, units = encoder.dense.shape
    return Scratch(
        np.zeros((entries, samples)),
        np.zeros((samples, first)),
        np.zeros((samples, first)),
        np.zeros((samples, units)),
        np.zeros((samples, units)),
        np.zeros((units, first)),
    )


@kernel
def flat_gradient(
    encoder: Encoder,
    head: FloatArray,
    memory: Batch,
    drawn: IntArray,
    target: FloatArray,
    slopes: tuple[Encoder, FloatArray],
    scratch: Scratch,
) -> float:
    """The mean squared error over the drawn samples; its gradient is added to ``slopes``."""
    added, head_slope = slopes
    _forward(encoder, memory, drawn, scratch)
    phi, samples, units = scratch.phi, len(drawn), scratch.phi.shape[1]
    loss = 0.0
    for s in range(samples):
        miss = head[units] - target[s]
        for j in range(units):
            miss += head[j] * phi[s, j]
        loss += miss * miss / samples
        slope = 2.0 * miss / samples
        for j in range(units):
            head_slope[j] += slope * phi[s, j]
            scratch.phi_slope[s, j] = slope * head[j]
        head_slope[units] += slope
    close_silent(phi, scratch.phi_slope)
    add_slopes(scratch.hidden, scratch.phi_slope, added.dense, added.dense_bias)
    scratch.transposed[:] = encoder.dense.T
    pass_back(scratch.phi_slope, scratch.transposed, scratch.hidden_slope)
    close_silent(scratch.hidden, scratch.hidden_slope)
    _add_first(scratch.vectors, scratch.hidden_slope, added.flow, added.flow_bias)
    return loss


@kernel
def _fit(
    flat: FloatArray,
    slope: FloatArray,
    encoder: Encoder,
    head: FloatArray,
    slopes: tuple[Encoder, FloatArray],
    memory: Batch,
    draws: IntArray,
    targets: FloatArray,
    how: Descent,
) -> None:
    """All steps; encoder and head are views of ``flat``, and ``slopes`` of ``slope``."""
    mean, square = np.zeros_like(flat), np.zeros_like(flat)
    scratch = scratch_for(encoder, memory, draws.shape[1])
    for step in range(len(draws)):
        slope[:] = 0.0
        flat_gradient(encoder, head, memory, draws[step], targets[step], slopes, scratch)
        descend(flat, slope, mean, square, step + 1, how)


@kernel
def _encode(encoder: Encoder, batch: Batch, result: FloatArray) -> None:
    samples, units, block = len(batch.group), result.shape[1] - 1, 64
    scratch = scratch_for(encoder, batch, block)
    drawn = np.zeros(block, dtype=np.int64)
    for first in range(0, samples, block):
        here = min(block, samples - first)
        for s in range(block):
            drawn[s] = first + min(s, here - 1)
        _forward(encoder, batch, drawn, scratch)
        result[first : first + here, :units] = scratch.phi[:here, :units]


@bare
def _forward(encoder: Encoder, memory: Batch, drawn: IntArray, scratch: Scratch) -> None:
    """phi of the drawn samples, without its constant, into ``scratch``."""
    slots, columns = memory.rows.shape[1], memory.rows.shape[2]
    for s in range(len(drawn)):
        rows = memory.rows[drawn[s]]
        for f in range(slots):
            for c in range(columns):
                scratch.vectors[f * columns + c, s] = rows[f, c]
    _first_layer(scratch.vectors, encoder.flow, encoder.flow_bias, scratch.hidden)
    rectified(scratch.hidden, encoder.dense, encoder.dense_bias, scratch.phi)


@bare
def _first_layer(
    vectors: FloatArray, weights: FloatArray, bias: FloatArray, outputs: FloatArray
) -> None:
    """Rectified sums of the first layer; empty slots and dropped flags cost nothing."""
    samples, units = outputs.shape
    for s in range(samples):
        for k in range(units):
            outputs[s, k] = bias[k]
    for c in range(len(vectors)):
        row = weights[c]
        for s in range(samples):
            value = vectors[c, s]
            if value != 0.0:
                for k in range(units):
                    outputs[s, k] += value * row[k]
    for s in range(samples):
        for k in range(units):
            outputs[s, k] = max(outputs[s, k], 0.0)


@bare
def _add_first(
    vectors: FloatArray, slope: FloatArray, weights: FloatArray, bias: FloatArray
) -> None:
    """Add to the gradients of the first layer's weights and bias."""
    samples, units = slope.shape
    for s in range(samples):
        for k in range(units):
            bias[k] += slope[s, k]
    for c in range(len(vectors)):
        row = weights[c]
        for s in range(samples):
            value = vectors[c, s]
            if value != 0.0:
                for k in range(units):
                    row[k] += value * slope[s, k]
