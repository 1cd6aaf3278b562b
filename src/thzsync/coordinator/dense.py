"""Layers of rectified units: forwards, backwards, and the step that training takes.

Networks here have about a hundred units, so a step is short and what a general library spends on
dispatch would be most of it. Every encoder is trained with these kernels. Sums have one order,
written below, and no sum is reordered for speed: a trained network is the same on every machine.
Four terms are added at a time because each store then serves four products.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from thzsync.arrays import FloatArray
from thzsync.jit import bare, hot

MEAN_DECAY: Final = 0.9
SQUARE_DECAY: Final = 0.999
LEAST_SPREAD: Final = 1e-8
"""Adam's customary constants: memory of the mean, of the square, and what keeps 0 / 0 away."""


class Descent(NamedTuple):
    """How far a step of AdamW goes."""

    rate: float
    """Step size."""
    decay: float
    """Decoupled weight decay per step, as a multiple of the step size."""


@hot
def afresh(value: float) -> float:
    """The same number, as a sum.

    What is chosen between a new number and the one that is there would be stored under a mask,
    which takes several times as long as to store a number everywhere.
    """
    return value + 0.0


@bare
def rectified(
    inputs: FloatArray, weights: FloatArray, bias: FloatArray, outputs: FloatArray
) -> None:
    """max(inputs @ weights + bias, 0), one row per sample.

    Fours are added one after the other, then what is left. The first three fours, all there is of
    most inputs, are added in one go: known rows of the weights can be told apart from the outputs
    once for all samples.
    """
    width, units = weights.shape
    fours = width - width % 4
    for i in range(len(inputs)):
        x, begun = inputs[i], 0
        if width >= 12:
            begun = 12
            for k in range(units):
                total = bias[k] + (
                    (x[0] * weights[0, k] + x[1] * weights[1, k])
                    + (x[2] * weights[2, k] + x[3] * weights[3, k])
                )
                total += (x[4] * weights[4, k] + x[5] * weights[5, k]) + (
                    x[6] * weights[6, k] + x[7] * weights[7, k]
                )
                outputs[i, k] = total + (
                    (x[8] * weights[8, k] + x[9] * weights[9, k])
                    + (x[10] * weights[10, k] + x[11] * weights[11, k])
                )
        else:
            for k in range(units):
                outputs[i, k] = bias[k]
        for c in range(begun, fours, 4):
            a, b, d, e = x[c], x[c + 1], x[c + 2], x[c + 3]
            for k in range(units):
                outputs[i, k] += (a * weights[c, k] + b * weights[c + 1, k]) + (
                    d * weights[c + 2, k] + e * weights[c + 3, k]
                )
        for c in range(fours, width):
            a = x[c]
            for k in range(units):
                outputs[i, k] += a * weights[c, k]
        for k in range(units):
            total = afresh(outputs[i, k])
            outputs[i, k] = 0.0 if total <= 0.0 else total  # not-a-number stays


@bare
def close_silent(outputs: FloatArray, slope: FloatArray) -> None:
    """No slope passes a unit that its rectifier holds at zero."""
    for i in range(len(outputs)):
        for k in range(outputs.shape[1]):
            slope[i, k] = slope[i, k] if outputs[i, k] > 0.0 else 0.0


@bare
def add_slopes(
    inputs: FloatArray, slope: FloatArray, weights: FloatArray, bias: FloatArray
) -> None:
    """Add to the gradients of a layer's weights and bias, from the slope before its rectifier."""
    samples, units = slope.shape
    whole = samples - samples % 4
    for i in range(0, whole, 4):
        for k in range(units):
            bias[k] += (slope[i, k] + slope[i + 1, k]) + (slope[i + 2, k] + slope[i + 3, k])
        for c in range(inputs.shape[1]):
            a, b, d, e = inputs[i, c], inputs[i + 1, c], inputs[i + 2, c], inputs[i + 3, c]
            for k in range(units):
                weights[c, k] += (a * slope[i, k] + b * slope[i + 1, k]) + (
                    d * slope[i + 2, k] + e * slope[i + 3, k]
                )
    for i in range(whole, samples):
        for k in range(units):
            bias[k] += slope[i, k]
        for c in range(inputs.shape[1]):
            a = inputs[i, c]
            for k in range(units):
                weights[c, k] += a * slope[i, k]


@bare
def pass_back(slope: FloatArray, transposed: FloatArray, below: FloatArray) -> None:
    """The slope with respect to a layer's inputs, written to ``below``.

    Takes the weights with a row per unit: silent units, often half of them, are then skipped.
    """
    units, width = transposed.shape
    for i in range(len(slope)):
        for c in range(width):
            below[i, c] = 0.0
        for k in range(units):
            a = slope[i, k]
            if a != 0.0:
                for c in range(width):
                    below[i, c] += a * transposed[k, c]


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
        slope = gradient[p]
        mean[p] += (1.0 - MEAN_DECAY) * (slope - mean[p])
        square[p] = SQUARE_DECAY * square[p] + (1.0 - SQUARE_DECAY) * slope * slope
        size = math.sqrt(square[p]) * spread + LEAST_SPREAD
        weights[p] = kept * weights[p] - length * mean[p] / size
