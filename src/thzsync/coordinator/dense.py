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
    """max(inputs @ weights + bias, 0), one row per sample; not-a-number stays.

    Fours are added one after the other, then what is left. Weights are read once for four rows.
    """
    whole = len(inputs) - len(inputs) % 4
    for k in range(0, weights.shape[1], LANES):
        for i in range(0, whole, 4):
            _rectify_four(inputs, i, weights, eight(bias, k), k, outputs)
        for i in range(whole, len(inputs)):
            _rectify_one(inputs, i, weights, eight(bias, k), k, outputs)


@hot
def _rectify_four(
    x: FloatArray, i: int, weights: FloatArray, bias: FloatArray, k: int, outputs: FloatArray
) -> None:
    width, first, second, third, fourth = len(weights), bias, bias, bias, bias
    fours = width - width % 4
    for c in range(0, fours, 4):
        a, b = eight(weights, (c, k)), eight(weights, (c + 1, k))
        d, e = eight(weights, (c + 2, k)), eight(weights, (c + 3, k))
        first = first + _four(x[i, c], a, x[i, c + 1], b, x[i, c + 2], d, x[i, c + 3], e)
        j = i + 1
        second = second + _four(x[j, c], a, x[j, c + 1], b, x[j, c + 2], d, x[j, c + 3], e)
        j = i + 2
        third = third + _four(x[j, c], a, x[j, c + 1], b, x[j, c + 2], d, x[j, c + 3], e)
        j = i + 3
        fourth = fourth + _four(x[j, c], a, x[j, c + 1], b, x[j, c + 2], d, x[j, c + 3], e)
    for c in range(fours, width):
        a = eight(weights, (c, k))
        first, second = first + x[i, c] * a, second + x[i + 1, c] * a
        third, fourth = third + x[i + 2, c] * a, fourth + x[i + 3, c] * a
    put_eight(outputs, (i, k), where_at_most(first, 0.0, 0.0, first))
    put_eight(outputs, (i + 1, k), where_at_most(second, 0.0, 0.0, second))
    put_eight(outputs, (i + 2, k), where_at_most(third, 0.0, 0.0, third))
    put_eight(outputs, (i + 3, k), where_at_most(fourth, 0.0, 0.0, fourth))


@hot
def _rectify_one(
    x: FloatArray, i: int, weights: FloatArray, bias: FloatArray, k: int, outputs: FloatArray
) -> None:
    width, total = len(weights), bias
    fours = width - width % 4
    for c in range(0, fours, 4):
        a, b = eight(weights, (c, k)), eight(weights, (c + 1, k))
        d, e = eight(weights, (c + 2, k)), eight(weights, (c + 3, k))
        total = total + _four(x[i, c], a, x[i, c + 1], b, x[i, c + 2], d, x[i, c + 3], e)
    for c in range(fours, width):
        total = total + x[i, c] * eight(weights, (c, k))
    put_eight(outputs, (i, k), where_at_most(total, 0.0, 0.0, total))


@hot
def _four(
    p: float,
    a: FloatArray,
    q: float,
    b: FloatArray,
    r: float,
    d: FloatArray,
    s: float,
    e: FloatArray,
) -> FloatArray:
    return (p * a + q * b) + (r * d + s * e)


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
    whole, last = samples - samples % 4, inputs.shape[1] - 1
    for k in range(0, units, LANES):
        if whole:
            _add_to_bias(slope, whole, k, bias)
            for c in range(0, last + 1, 2):  # slopes are read once for two inputs
                _add_to_two(inputs, slope, whole, c, min(c + 1, last), k, weights)
        for i in range(whole, samples):
            here = eight(slope, (i, k))
            put_eight(bias, k, eight(bias, k) + here)
            for c in range(last + 1):
                put_eight(weights, (c, k), eight(weights, (c, k)) + inputs[i, c] * here)


@hot
def _add_to_bias(slope: FloatArray, whole: int, k: int, bias: FloatArray) -> None:
    total = eight(bias, k)
    for i in range(0, whole, 4):
        total = total + (
            (eight(slope, (i, k)) + eight(slope, (i + 1, k)))
            + (eight(slope, (i + 2, k)) + eight(slope, (i + 3, k)))
        )
    put_eight(bias, k, total)


@hot
def _add_to_two(
    x: FloatArray, slope: FloatArray, whole: int, c: int, d: int, k: int, weights: FloatArray
) -> None:
    """Of inputs ``c`` and ``d``, which may be the same."""
    here, there = eight(weights, (c, k)), eight(weights, (d, k))
    for i in range(0, whole, 4):
        first, second = eight(slope, (i, k)), eight(slope, (i + 1, k))
        third, fourth = eight(slope, (i + 2, k)), eight(slope, (i + 3, k))
        here = here + _four(
            x[i, c], first, x[i + 1, c], second, x[i + 2, c], third, x[i + 3, c], fourth
        )
        there = there + _four(
            x[i, d], first, x[i + 1, d], second, x[i + 2, d], third, x[i + 3, d], fourth
        )
    put_eight(weights, (c, k), here)
    put_eight(weights, (d, k), there)


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
