"""Means, their 95 % intervals, and what may be said on their evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from thzsync.arrays import FloatArray


def interval95(values: FloatArray) -> tuple[float, float]:
    """Mean and half-width of Student's 95 % interval; the width of one value is unknown (NaN)."""
    from scipy import stats

    count = len(values)
    mean = float(np.mean(values))
    if count < 2:
        return mean, float("nan")
    spread = float(np.std(values, ddof=1)) / np.sqrt(count)
    return mean, float(stats.t.ppf(0.975, count - 1) * spread)


def paired_row(
    metrics: Sequence[str], values: Callable[[str], FloatArray], pairs: Callable[[str], FloatArray]
) -> dict[str, float]:
    """Per metric the mean of ``values`` and that of the paired differences, with intervals."""
    row: dict[str, float] = {}
    for metric in metrics:
        row[metric], row[f"ci95_{metric}"] = interval95(values(metric))
        row[f"diff_{metric}"], row[f"ci95_diff_{metric}"] = interval95(pairs(metric))
    return row


def paired_pct(ours: FloatArray, theirs: FloatArray) -> tuple[float, float]:
    """The paired difference in per cent of ``theirs``, with its half-width; below 0 is less."""
    return interval95(100 * (ours - theirs) / np.where(theirs > 0, theirs, np.nan))


def verdict(lead: float, half: float) -> bool | None:
    """Whether a paired difference is positive; None if its interval spans zero or is unknown."""
    return lead > 0 if abs(lead) > half else None


def undecided(seeds: int) -> str:
    """Why nothing can be said of a difference."""
    return "undecided, one seed" if seeds == 1 else "too close to call"
