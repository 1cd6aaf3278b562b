"""Logarithms, powers of ten and products whose digits do not depend on the processor.

NumPy has several versions of these and takes the one that suits the processor's vector
instructions; its matrix products come from a library that does the same. They differ in the last
digit, and a learner's decision may turn on one. Here every element goes through the C library's
function, and every sum has one order: a seed means the same numbers on all processors for which
the library has one version, such as x86-64 since 2013 (with FMA).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray

TEN: Final = 10.0


def log2(x: Any) -> FloatArray:
    """Logarithm to base 2 of every element; minus infinity of zero."""
    return _each("LOG2", x)


def log10(x: Any) -> FloatArray:
    """Logarithm to base 10 of every element; minus infinity of zero."""
    return _each("LOG10", x)


def log1p(x: Any) -> FloatArray:
    """Natural logarithm of one more than every element."""
    return _each("LOG1P", x)


def ten_to(x: Any) -> FloatArray:
    """10 to the power of every element."""
    return _each("POWER", x)


def _each(function: str, x: Any) -> FloatArray:
    from thzsync.elementary import kernels

    given, found = np.ascontiguousarray(x, dtype=np.float64), np.empty(np.shape(x))
    kernels.fill(getattr(kernels, function), TEN, given.reshape(-1), found.reshape(-1))
    return found


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """``left @ right``, of matrices or vectors; every sum goes from the first term to the last."""
    from thzsync.elementary.kernels import add_product

    rows = np.ascontiguousarray(left if left.ndim > 1 else left[None])
    columns = np.ascontiguousarray(right if right.ndim > 1 else right[:, None])
    found = np.zeros((len(rows), columns.shape[1]))
    add_product(rows, columns, found)
    found = found if right.ndim > 1 else found[:, 0]
    return found if left.ndim > 1 else found[0]
