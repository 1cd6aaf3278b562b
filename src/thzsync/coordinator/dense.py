"""Layers of rectified units: forwards, backwards, and the step that training takes.

Networks here have about a hundred units, so a step is short and what a general library spends on
dispatch would be most of it. Every encoder is trained with these kernels, eight units at a time:
layers are as wide as whole lanes, and units that fill them up have weights of zero, which stay so.
Sums have one order, written below: a trained network is the same on every machine.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from thzsync.arrays import FloatArray
from thzsync.jit import bare, hot
from thzsync.jit.lanes import LANES, eight, put_eight, roots, where_at_most, where_more

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


@bare
def rectified(
    inputs: FloatArray, weights: FloatArray, bias: FloatArray, outputs: FloatArray
) -> None:
    """max(inputs @ weights + bias, 0), one row per sample; not-a-number stays.

    Fours are added one after the other, then what is left.
    """
    width = len(weights)
    fours = width - width % 4
    for k in range(0, weights.shape[1], LANES):
        for i in range(len(inputs)):
            total = eight(bias, k)
            for c in range(0, fours, 4):
                a, b = inputs[i, c], inputs[i, c + 1]
                total = total + _four(a, b, inputs[i, c + 2], inputs[i, c + 3], weights, c, k)
            for c in range(fours, width):
                total = total + inputs[i, c] * eight(weights, (c, k))
            put_eight(outputs, (i, k), where_at_most(total, 0.0, 0.0, total))


@hot
def _four(w: float, x: float, y: float, z: float, rows: FloatArray, i: int, k: int) -> FloatArray:
    """Eight sums of four numbers times four rows, from row ``i`` and column ``k`` on."""
    first = w * eight(rows, (i, k)) + x * eight(rows, (i + 1, k))
    return first + (y * eight(rows, (i + 2, k)) + z * eight(rows, (i + 3, k)))


@bare
def close_silent(outputs: FloatArray, slope: FloatArray) -> None:
    """No slope passes a unit that its rectifier holds at zero."""
    for i in range(len(outputs)):
        for k in range(0, outputs.shape[1], LANES):
            passed = where_more(eight(outputs, (i, k)), 0.0, eight(slope, (i, k)), 0.0)
            put_eight(slope, (i, k), passed)


@bare
def add_slopes(
    inputs: FloatArray, slope: FloatArray, weights: FloatArray, bias: FloatArray
) -> None:
    """Add to the gradients of a layer's weights and bias, from the slope before its rectifier.

    Four samples at a time, then what is left.
    """
    samples, units = slope.shape
    whole = samples - samples % 4
    for k in range(0, units, LANES):
        total = eight(bias, k)
        for i in range(0, whole, 4):
            total = total + _four(1.0, 1.0, 1.0, 1.0, slope, i, k)
        for i in range(whole, samples):
            total = total + eight(slope, (i, k))
        put_eight(bias, k, total)
        for c in range(inputs.shape[1]):
            total = eight(weights, (c, k))
            for i in range(0, whole, 4):
                a, b = inputs[i, c], inputs[i + 1, c]
                total = total + _four(a, b, inputs[i + 2, c], inputs[i + 3, c], slope, i, k)
            for i in range(whole, samples):
                total = total + inputs[i, c] * eight(slope, (i, k))
            put_eight(weights, (c, k), total)


@bare
def pass_back(slope: FloatArray, transposed: FloatArray, below: FloatArray) -> None:
    """The slope with respect to a layer's inputs, written to ``below``.

    Takes the weights with a row per unit.
    """
    units, width = transposed.shape
    for i in range(len(slope)):
        for c in range(0, width, LANES):
            total = slope[i, 0] * eight(transposed, (0, c))
            for k in range(1, units):
                total = total + slope[i, k] * eight(transposed, (k, c))
            put_eight(below, (i, c), total)


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
    for p in range(0, len(weights), LANES):
        slope, drift = eight(gradient, p), eight(mean, p)
        drift = drift + (1.0 - MEAN_DECAY) * (slope - drift)
        power = SQUARE_DECAY * eight(square, p) + (1.0 - SQUARE_DECAY) * slope * slope
        size = roots(power) * spread + LEAST_SPREAD
        put_eight(mean, p, drift)
        put_eight(square, p, power)
        put_eight(weights, p, kept * eight(weights, p) - length * drift / size)
