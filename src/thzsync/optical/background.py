"""Background traffic: an independent Poisson process of bursts on every switch output.

The k-th burst of a link is a pure function of (key, link, k), so neither the foreground nor the
order of asking can change it: every policy meets the same background.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.hashing import GOLDEN, mix64
from thzsync.jit import bare, hot

_mix = hot(mix64)
_ONE, _ELEVEN = np.uint64(1), np.uint64(11)  # beside an int, Numba would make uint64 a float


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


@hot
def one_gap_ps(start: np.uint64, number: int, mean_ps: float) -> int:
    """Time before burst ``number`` of a link, at least 1 [ps]; ``start`` is the link's seed."""
    bits = _mix(start + (np.uint64(number) + _ONE) * GOLDEN)
    uniform = (np.float64(bits >> _ELEVEN) + 0.5) * 2.0**-53  # 53 bits, never 0
    return int(max(np.rint(-log(uniform) * mean_ps), 1.0))


def starts(key: int, link: IntArray) -> AnyArray:
    """Seed of every link's draws, from the key of all background and the link's number."""
    seed = mix64(np.array([key & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    of_link: AnyArray = mix64(seed + (link + 1).astype(np.uint64) * GOLDEN)
    return of_link


def gaps_ps(
    key: int, link: int | IntArray, first: int | IntArray, count: int, mean_ps: float | FloatArray
) -> IntArray:
    """Times before bursts ``first`` .. ``first + count - 1``, at least 1 [ps]; a row per link."""
    start = starts(key, np.atleast_1d(np.asarray(link, dtype=np.int64)))
    number, mean = np.empty(len(start), dtype=np.int64), np.empty(len(start))
    number[:], mean[:] = first, mean_ps
    gaps = np.empty((len(start), count), dtype=np.int64)
    with np.errstate(over="ignore"):  # hashes wrap around; uncompiled, NumPy would warn
        _fill(start, number, mean, gaps)
    return gaps


@bare
def _fill(start: AnyArray, first: IntArray, mean_ps: FloatArray, gaps: IntArray) -> None:
    for q in range(len(start)):
        for k in range(gaps.shape[1]):
            gaps[q, k] = one_gap_ps(start[q], first[q] + k, mean_ps[q])
