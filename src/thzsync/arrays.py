"""Array types and the decorator of compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

F = TypeVar("F", bound=Callable[..., Any])

PS_PER_S = 10**12


def kernel(function: F) -> F:
    """Compile a kernel on first use and keep the machine code on disk."""
    from numba import njit

    return cast(F, njit(cache=True, nogil=True)(function))


def to_ps(seconds: float) -> int:
    """Seconds [s] as whole picoseconds [ps]."""
    return round(seconds * PS_PER_S)


def to_s(picoseconds: int) -> float:
    """Picoseconds [ps] as seconds [s]."""
    return float(picoseconds) / PS_PER_S
