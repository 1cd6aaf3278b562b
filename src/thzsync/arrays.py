"""Array types, time in whole picoseconds, and whether arrays would fit into memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thzsync.errors import ThzSyncError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]

PS_PER_S: Final = 10**12
LATEST_S: Final = 4e6
"""The simulated clock ends here, 46 days on [s]: sums of two times still fit into 64 bits."""

NEVER_PS: Final = 1 << 62
"""A time that never comes [ps]; every simulated instant is earlier."""

MEMORY_LIMITS: Final = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where Linux tells a container its limit, in either version of control groups."""


def to_ps(seconds: float) -> int:
    """Seconds [s] as whole picoseconds [ps]; refused where 64 bits could not hold them."""
    _check_seconds(seconds)
    return round(seconds * PS_PER_S)


def all_to_ps(seconds: FloatArray) -> IntArray:
    """Every time of an array [s] as whole picoseconds [ps], checked like a single one."""
    if len(seconds):
        _check_seconds(float(seconds[np.argmax(np.abs(seconds))]))  # NaN wins argmax too
    return np.rint(seconds * float(PS_PER_S)).astype(np.int64)


def _check_seconds(seconds: float) -> None:
    if not abs(seconds) <= LATEST_S:
        raise ThzSyncError(
            f"a time of {seconds:g} s is beyond what is simulated (at most {LATEST_S:g} s, "
            f"{LATEST_S / 86400:.0f} days); shorten the scenario's times"
        )


def among(values: IntArray, rising: IntArray) -> BoolArray:
    """Which values are in a rising list: what ``np.isin`` says, in fewer steps."""
    if not len(rising):
        return np.zeros(len(values), dtype=np.bool_)
    place = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    found: BoolArray = rising[place] == values
    return found


def memory_bytes() -> int:
    """Memory that this machine, or the container that we are in, has for us [bytes]."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_limit_bytes(file) for file in MEMORY_LIMITS]
    return min([physical, *(limit for limit in limits if limit is not None)])


def _limit_bytes(file: Path) -> int | None:
    try:
        text = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return int(text) if text.isdecimal() else None  # "max" is none


def size_text(count_bytes: float) -> str:
    """A size for people, such as ``6.3 GB``."""
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count_bytes >= size:
            return f"{count_bytes / size:.3g} {unit}"
    return f"{count_bytes:.0f} bytes"
