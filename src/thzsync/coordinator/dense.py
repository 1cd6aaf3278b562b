"""Layers of rectified units: forward, backward, and a step of AdamW.

Networks here have about a hundred units, so the dispatch of a general library would take most of a
step. Inner loops go over units, which are contiguous in memory, so that LLVM vectorises them. Every
sum has a fixed order, so a trained network is the same on every machine.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from thzsync.arrays import FloatArray
from thzsync.jit import bare, hot

MEAN_DECAY: Final = 0.9
SQUARE_DECAY: Final = 0.999
LEAST_SPREAD: Final = 1e-8
"""Adam's usual constants: decay of the mean, of the square, and the offset against 0 / 0."""


class Descent(NamedTuple):
    """Step size and weight decay of AdamW."""

    rate: float
    decay: float
    """Decoupled weight decay per step, as a multiple of the step size."""


@bare
def rectified(
    inputs: FloatArray, weights: FloatArray, bias: FloatArray, outputs: FloatArray
) -> None:
    """max(inputs @ weights + bias, 0), one row per sample; NaN stays NaN."""
    units = len(bias)
    for i in range(len(inputs)):
        total = outputs[i]
        for k in range(units):
            total[k] = bias[k]
        _add_rows(inputs[i], weights, total)
        for k in range(units):
            total[k] = 0.0 if total[k] <= 0.0 else total[k]


@hot
def _add_rows(factors: FloatArray, rows: FloatArray, total: FloatArray) -> None:
    """Add a weighted sum of rows, in fours, then the remaining ones."""
    number, units = rows.shape
    fours = number - number % 4
    for i in range(0, fours, 4):
        a, b, c, d = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for k in range(units):
            first = a * rows[i, k] + b * rows[i + 1, k]
            total[k] += first + (c * rows[i + 2, k] + d * rows[i + 3, k])
    for i in range(fours, number):
        for k in range(units):
            total[k] += factors[i] * rows[i, k]


@bare
def close_silent(outputs: FloatArray, slope: FloatArray) -> None:
    """Set the slopes of units that their rectifier clips to zero."""
    for i in range(len(outputs)):
        for k in range(outputs.shape[1]):
            slope[i, k] = slope[i, k] if outputs[i, k] > 0.0 else 0.0


@bare
def add_slopes(
    inputs: FloatArray, slope: FloatArray, weights: FloatArray, bias: FloatArray
) -> None:
    """Add to the gradients of a layer's weights and bias, from the slope before its rectifier.

    Four samples at a time, then the remaining ones.
    """
    samples, units = slope.shape
    fours = samples - samples % 4
    for i in range(0, fours, 4):
        for k in range(units):
            bias[k] += (slope[i, k] + slope[i + 1, k]) + (slope[i + 2, k] + slope[i + 3, k])
        for n in range(inputs.shape[1]):
            a, b, c, d = inputs[i, n], inputs[i + 1, n], inputs[i + 2, n], inputs[i + 3, n]
            for k in range(units):
                first = a * slope[i, k] + b * slope[i + 1, k]
                weights[n, k] += first + (c * slope[i + 2, k] + d * slope[i + 3, k])
    for i in range(fours, samples):
        for k in range(units):
            bias[k] += slope[i, k]
        for n in range(inputs.shape[1]):
            for k in range(units):
                weights[n, k] += inputs[i, n] * slope[i, k]


@bare
def pass_back(slope: FloatArray, transposed: FloatArray, below: FloatArray) -> None:
    """The slope with respect to a layer's inputs, written to ``below``.

    Takes the weights with a row per unit.
    """
    units, width = transposed.shape
    for i in range(len(slope)):
        for c in range(width):
            below[i, c] = slope[i, 0] * transposed[0, c]
        for k in range(1, units):
            for c in range(width):
                below[i, c] += slope[i, k] * transposed[k, c]


@bare
def descend(
    weights: FloatArray,
    gradient: FloatArray,
    mean: FloatArray,
    square: FloatArray,
    step: int,
    how: Descent,
) -> None:
    """One step of AdamW on flat arrays, in place; ``step`` counts from 1."""
    kept = 1.0 - how.rate * how.decay
    length = how.rate / (1.0 - MEAN_DECAY**step)
    spread = 1.0 / math.sqrt(1.0 - SQUARE_DECAY**step)
    for p in range(len(weights)):
        mean[p] += (1.0 - MEAN_DECAY) * (gradient[p] - mean[p])
        square[p] = SQUARE_DECAY * square[p] + (1.0 - SQUARE_DECAY) * gradient[p] * gradient[p]
        size = math.sqrt(square[p]) * spread + LEAST_SPREAD
        weights[p] = kept * weights[p] - length * mean[p] / size
