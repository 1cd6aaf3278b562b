"""Background traffic: an independent Poisson process of bursts on every switch output.

The k-th burst of a link is a pure function of (key, link, k), so neither the foreground nor the
order of asking can change it: every policy meets the same background.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.hashing import GOLDEN, mix64


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

    def packets(self, packet_bytes: int) -> int:
        """Packets of one burst."""
        return -(-self.burst_bytes // packet_bytes)

    def mean_gap_ps(self, rate_bps: int) -> float:
        """Mean time between bursts on a link of the given rate [ps]."""
        return 8e12 * self.burst_bytes / (self.load * rate_bps)


def gaps_ps(
    key: int, link: int | IntArray, first: int | IntArray, count: int, mean_ps: float | FloatArray
) -> IntArray:
    """Times before bursts ``first`` .. ``first + count - 1``, at least 1 [ps]; a row per link."""
    seed = mix64(np.array([key & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    names = np.atleast_1d(np.asarray(link) + 1).astype(np.uint64)
    start = mix64(seed + names * GOLDEN)
    index = (np.atleast_1d(first)[:, None] + np.arange(1, count + 1)).astype(np.uint64)
    bits = mix64(start[:, None] + index * GOLDEN)
    uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    gaps = np.rint(-np.log(uniform) * np.atleast_1d(mean_ps)[:, None])
    whole: IntArray = np.maximum(gaps, 1.0).astype(np.int64)
    return whole
