"""The loops behind: one element, or one term of a sum, after the other."""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.jit import bare

LOG2, LOG10, LOG1P, POWER = range(4)


@bare
def fill(function: int, base: float, x: FloatArray, out: FloatArray) -> None:
    """A function of every element; ``base`` is what powers are of.

    It comes from outside, since of a known one the compiler would make another function.
    """
    if function == LOG2:
        for k in range(len(x)):
            out[k] = math.log2(x[k]) if x[k] != 0.0 else -np.inf  # in Python an error
    elif function == LOG10:
        for k in range(len(x)):
            out[k] = math.log10(x[k]) if x[k] != 0.0 else -np.inf
    elif function == LOG1P:
        for k in range(len(x)):
            out[k] = math.log1p(x[k]) if x[k] != -1.0 else -np.inf
    else:
        for k in range(len(x)):
            out[k] = base ** x[k]


@bare
def add_product(left: FloatArray, right: FloatArray, found: FloatArray) -> None:
    """Add ``left @ right`` of two matrices to ``found``."""
    for i in range(left.shape[0]):
        for k in range(left.shape[1]):
            weight = left[i, k]
            for j in range(right.shape[1]):
                found[i, j] += weight * right[k, j]
