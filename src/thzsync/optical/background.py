"""Background traffic: an independent Poisson process of bursts on every switch output.

The k-th burst of a link is a pure function of (key, link, k), so neither the foreground nor the
order of asking can change it: every policy meets the same background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Background:
    """Bursts of fixed size; ``load`` is the offered share of each output's rate."""

    load: float
    burst_bytes: int = 262_144

    def __post_init__(self) -> None:
        if not 0 <= self.load < 1:
            raise ThzSyncError(f"background: load is {self.load}; use a share from 0 to below 1")
        if self.burst_bytes < 1:
            raise ThzSyncError(f"background: burst_bytes is {self.burst_bytes}; use at least 1")

    def mean_gap_ps(self, rate_bps: int) -> float:
        """Mean time between bursts on a link of the given rate [ps]."""
        return 8e12 * self.burst_bytes / (self.load * rate_bps)


def _scramble(x: np.typing.NDArray[np.uint64]) -> np.typing.NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood, 2014)."""
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


def gaps_ps(key: int, link: int, first: int, count: int, mean_ps: float) -> IntArray:
    """Times before bursts ``first`` .. ``first + count - 1`` of a link, at least 1 each [ps]."""
    names = np.array([key & 0xFFFFFFFFFFFFFFFF, link + 1], dtype=np.uint64)
    start = _scramble(_scramble(names[:1]) + names[1:] * _GOLDEN)
    index = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    bits = _scramble(start + index * _GOLDEN)
    uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.maximum(np.rint(-np.log(uniform) * mean_ps), 1.0).astype(np.int64)
