"""Logarithms, exponentials and products whose digits do not depend on the processor.

NumPy has several versions of these and takes the one that suits the processor's vector
instructions; its matrix products come from a library that does the same. They differ in the last
digit, and a learner's decision may turn on one. Here every element goes through the C library's
function, and every sum has one order: a seed means the same numbers on every processor.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.jit import bare, kernel

_LOG, _LOG2, _LOG10, _LOG1P, _EXP, _POWER = range(6)
TEN: Final = 10.0


def log(x: Any) -> FloatArray:
    """Natural logarithm of every element; minus infinity of zero."""
    return _each(_LOG, x)


def log2(x: Any) -> FloatArray:
    """Logarithm to base 2 of every element; minus infinity of zero."""
    return _each(_LOG2, x)


def log10(x: Any) -> FloatArray:
    """Logarithm to base 10 of every element; minus infinity of zero."""
    return _each(_LOG10, x)


def log1p(x: Any) -> FloatArray:
    """Natural logarithm of one more than every element."""
    return _each(_LOG1P, x)


def exp(x: Any) -> FloatArray:
    """e to the power of every element."""
    return _each(_EXP, x)


def ten_to(x: Any) -> FloatArray:
    """10 to the power of every element."""
    return _each(_POWER, x)


def _each(function: int, x: Any) -> FloatArray:
    given = np.ascontiguousarray(x, dtype=np.float64)
    found = np.empty(np.shape(x))
    _fill(function, TEN, given.reshape(-1), found.reshape(-1))
    return found


@bare
def _fill(function: int, base: float, x: FloatArray, out: FloatArray) -> None:
    # the base comes from outside: of a known one the compiler would make another function
    if function == _LOG:
        for k in range(len(x)):
            out[k] = math.log(x[k])
    elif function == _LOG2:
        for k in range(len(x)):
            out[k] = math.log2(x[k])
    elif function == _LOG10:
        for k in range(len(x)):
            out[k] = math.log10(x[k])
    elif function == _LOG1P:
        for k in range(len(x)):
            out[k] = math.log1p(x[k])
    elif function == _EXP:
        for k in range(len(x)):
            out[k] = math.exp(x[k])
    else:
        for k in range(len(x)):
            out[k] = base ** x[k]


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """``left @ right``, of matrices or vectors; every sum goes from the first term to the last."""
    rows = np.ascontiguousarray(left if left.ndim > 1 else left[None])
    columns = np.ascontiguousarray(right if right.ndim > 1 else right[:, None])
    found: FloatArray = _product(rows, columns)
    found = found if right.ndim > 1 else found[:, 0]
    return found if left.ndim > 1 else found[0]


@kernel
def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    rows, terms = left.shape
    columns = right.shape[1]
    found = np.zeros((rows, columns))
    for i in range(rows):
        for k in range(terms):
            weight = left[i, k]
            for j in range(columns):
                found[i, j] += weight * right[k, j]
    return found
