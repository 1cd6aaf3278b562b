"""The loops behind: one element, or one term of a sum, after the other."""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.jit import bare, kernel

LOG2, LOG10, LOG1P, POWER = range(4)


@bare
def fill(function: int, base: float, x: FloatArray, out: FloatArray) -> None:
    """A function of every element; ``base`` is what powers are of.

    It comes from outside, since of a known one the compiler would make another function.
    """
    if function == LOG2:
        for k in range(len(x)):
            out[k] = math.log2(x[k])
    elif function == LOG10:
        for k in range(len(x)):
            out[k] = math.log10(x[k])
    elif function == LOG1P:
        for k in range(len(x)):
            out[k] = math.log1p(x[k])
    else:
        for k in range(len(x)):
            out[k] = base ** x[k]


@kernel
def matrix_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """``left @ right`` of two matrices."""
    rows, terms = left.shape
    columns = right.shape[1]
    found = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(terms):
            weight = left[i, k]
            for j in range(columns):
                found[i, j] += weight * right[k, j]
    return found
