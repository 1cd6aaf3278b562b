"""Where two policies are equal along a key: which values to evaluate next, and what they tell.

The sign of the mean paired difference is bisected, and so are both edges of its 95 % interval: the
values between the two edges are those at which the order is undecided. If the differences are
normal, these values hold the true break-even in 95 of 100 repetitions: the true difference is zero
there, and the interval of a mean holds the true one so often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.display.metrics import ALL_SWEPT, Metric
from thzsync.experiments.statistics import interval95, verdict
from thzsync.studies.axes import is_wide, leading_axes
from thzsync.studies.curves import Crossover, find_crossovers, panel_points
from thzsync.studies.specification import BreakEven

if TYPE_CHECKING:
    from thzsync.studies.result import Row, Sweep

TURN: Final = "turn"
OPEN: Final = "open"
SEVERAL: Final = "several"
NONE: Final = "none"
UNDECIDED: Final = "undecided"


@dataclass(frozen=True)
class Finding:
    """What is known of one break-even; all other axes are fixed."""

    sought: BreakEven
    held: Row
    against: str
    """The reference policy."""
    policy: str
    seeds: int
    """The least number of paired seeds at a value."""
    x: FloatArray
    """Evaluated values of the key, rising."""
    mean: FloatArray
    """Mean paired difference at each: the policy's metric minus that of the reference."""
    half: FloatArray
    """Half-widths of the 95 % intervals; NaN of one seed."""

    @property
    def metric(self) -> Metric:
        """What the policies are compared in."""
        return next(one for one in ALL_SWEPT if one.key == self.sought.metric)

    @cached_property
    def decided(self) -> list[bool | None]:
        """At every value: whether the difference is positive; None if its interval spans zero."""
        return [verdict(*pair) for pair in zip(self.mean, self.half, strict=True)]

    @cached_property
    def sign_changes(self) -> int:
        """How often the mean difference changes its sign, also where nothing is decided."""
        signs = np.sign(self.mean[self.mean != 0])
        return int(np.count_nonzero(np.diff(signs)))

    @cached_property
    def turns(self) -> list[Crossover]:
        """Where the order turns: once in every part between decided values that differ.

        Between the values the mean is taken as a straight line; where it crosses zero several
        times in such a part, the median place stands for it. ``low`` and ``high`` are the nearest
        evaluated values at which the order is decided.
        ``before`` and ``behind`` have the lower values.
        """
        place, back = (log, exp) if self._wide else (float, float)
        x = np.array([place(value) for value in self.x])
        crossings = list(find_crossovers(self.policy, self.against, x, self.mean, self.half))
        known = [k for k, sign in enumerate(self.decided) if sign is not None]
        found = []
        for a, b in pairwise([None, *known, None]):
            least, most = (-inf if a is None else x[a]), (inf if b is None else x[b])
            inside = [one for one in crossings if least < one.x <= most]
            if len(inside) % 2:
                low, high = (None if k is None else self.x[k].item() for k in (a, b))
                median = back(inside[len(inside) // 2].x)
                found.append(replace(inside[0], x=median, low=low, high=high))
        return found

    @property
    def verdict(self) -> str:
        """One turn with both ends of its interval, or what hinders that."""
        signs = set(self.decided)
        if len(self.turns) > 1:
            return SEVERAL
        if signs == {None} or (not self.turns and None in signs):
            return UNDECIDED
        if not self.turns:
            return NONE
        return OPEN if None in (self.turns[0].low, self.turns[0].high) else TURN

    def between(self) -> Iterator[float]:
        """Values to evaluate next: the middles of gaps at whose ends some sign differs."""
        edges = (self.mean, self.mean - self.half, self.mean + self.half)
        signs = np.array([np.nan_to_num(np.sign(edge)) for edge in edges])
        first = len(self.x) == 2  # the middle is looked at in any case
        for k, (a, b) in enumerate(pairwise(self.x)):
            if (first or (signs[:, k] != signs[:, k + 1]).any()) and self._is_coarse(a, b):
                yield self._middle(a, b)

    @property
    def _wide(self) -> bool:
        """Whether ratios of values count, not their differences."""
        return is_wide((self.x[0], self.x[-1]), self.sought.key)

    def _is_coarse(self, a: float, b: float) -> bool:
        """Whether a gap is wider than the tolerance, and has room for a further value."""
        least, most = self.x[0], self.x[-1]
        share = log(b / a) / log(most / least) if self._wide else (b - a) / (most - least)
        return share > self.sought.tolerance and a < self._middle(a, b) < b

    def _middle(self, a: float, b: float) -> float:
        found = sqrt(a * b) if self._wide else (a + b) / 2
        return round(found) if self.x.dtype.kind == "i" else float(found)

    def document(self) -> Row:
        """The finding as plain values."""
        from thzsync.studies.break_even_text import sentence

        pairs = zip(self.x.tolist(), self.mean.tolist(), self.half.tolist(), strict=True)
        return {
            "held": self.held,
            "verdict": self.verdict,
            "answer": sentence(self),
            "turns": [
                {"x": t.x, "low": t.low, "high": t.high, "lower_below": t.before}
                | {"lower_above": t.behind}
                for t in self.turns
            ],
            "sign_changes": self.sign_changes,
            "seeds": self.seeds,
            "values": [{"x": x, "diff": mean, "ci95_diff": half} for x, mean, half in pairs],
        }


def findings(sweep: Sweep) -> list[Finding]:
    """The break-even of every combination of the other axes' values."""
    sought = sweep.specification.break_even
    if sought is None:
        return []
    others = [key for key in leading_axes(sweep) if key != sought.key]
    against, policy = sweep.policies
    found = []
    for held, points in panel_points(sweep, sought.key, others):
        pairs = [sweep.differences(point, policy, against)[sought.metric] for point in points]
        known = [
            (p[sought.key], d.to_numpy()) for p, d in zip(points, pairs, strict=True) if len(d)
        ]
        if len(known) < 2:
            continue
        means, halves = zip(*(interval95(values) for _, values in known), strict=True)
        seeds = min(len(values) for _, values in known)
        x = np.array([value for value, _ in known])
        found.append(
            Finding(sought, held, against, policy, seeds, x, np.array(means), np.array(halves))
        )
    return found


def document(sweep: Sweep) -> dict[str, Any]:
    """The break-evens of a sweep as plain values."""
    sought = sweep.specification.break_even
    if sought is None:
        return {}
    rows = [finding.document() for finding in sweep.break_evens]
    policies = dict(zip(("against", "policy"), sweep.policies, strict=True))
    return {"break_even": {**sought.model_dump(mode="json"), **policies, "rows": rows}}
