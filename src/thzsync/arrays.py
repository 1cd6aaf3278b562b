"""Array types, and time in whole picoseconds."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

PS_PER_S = 10**12


def to_ps(seconds: float) -> int:
    """Seconds [s] as whole picoseconds [ps]."""
    return round(seconds * PS_PER_S)
