"""Where one policy overtakes another along an axis, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from thzsync.arrays import FloatArray


@dataclass(frozen=True)
class Crossover:
    """The place where the mean paired difference of two policies changes its sign."""

    before: str
    """The policy with the lower values up to here."""
    behind: str
    """The policy with the lower values from here on."""
    x: float
    low: float | None
    """Least place at which the difference may be zero (95 %); ``None`` beyond the axis."""
    high: float | None
    """Greatest such place; ``None`` beyond the axis."""


def find_crossovers(
    one: str, other: str, x: FloatArray, difference: FloatArray, half: FloatArray
) -> Iterator[Crossover]:
    """Crossovers of two policies; ``difference`` is ``one`` minus ``other`` at the places ``x``.

    Between the places the difference and its 95 % band are taken as straight lines. Where the band
    does not hold zero, the order is decided; the interval is what lies between decided places.
    Without intervals, as from one seed, both its ends are unknown.
    """
    for a, b in pairwise(int(k) for k in np.flatnonzero(difference)):
        if difference[a] * difference[b] > 0:
            continue
        centre = _zero(x, difference, a) if b == a + 1 else float(x[a + 1])
        before, behind = (one, other) if difference[a] < 0 else (other, one)
        sign = 1.0 if difference[a] < 0 else -1.0  # so that the difference rises through zero
        low = _last_below(x[: b + 1], (sign * difference + half)[: b + 1])
        high = _first_above(x[a:], (sign * difference - half)[a:])
        yield Crossover(before, behind, centre, low, high)


def _zero(x: FloatArray, y: FloatArray, k: int) -> float:
    return float(x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k]))


def _last_below(x: FloatArray, upper: FloatArray) -> float | None:
    """Where the band's upper edge last leaves the negative side, up to the crossover."""
    decided = np.flatnonzero(upper < 0)
    return _zero(x, upper, int(decided[-1])) if len(decided) else None


def _first_above(x: FloatArray, lower: FloatArray) -> float | None:
    """Where the band's lower edge first reaches the positive side, from the crossover on."""
    decided = np.flatnonzero(lower > 0)
    return _zero(x, lower, int(decided[0]) - 1) if len(decided) else None
