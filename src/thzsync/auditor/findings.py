"""What an audit found: how many facts of each kind were checked, and which of them broke."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from thzsync.arrays import BoolArray

REPORTED_PER_CHECK: Final = 100
"""A damaged table can break a million facts: so many of one check are spelled out."""
TOLERANCE: Final = 1e-9
"""Relative slack of comparisons between floating-point sums."""


@dataclass(frozen=True)
class Violation:
    """One fact that does not hold."""

    check: str
    place: str
    message: str


@dataclass(frozen=True)
class Audit:
    """The verdict on one run."""

    checks: dict[str, int]
    """Name of every check and the number of facts it looked at."""
    violations: list[Violation]

    @property
    def ok(self) -> bool:
        """Whether every fact holds."""
        return not self.violations

    @property
    def facts(self) -> int:
        """Facts over all checks."""
        return sum(self.checks.values())

    @property
    def broken(self) -> list[str]:
        """Names of the checks that found something, in the order of checking."""
        return list(dict.fromkeys(v.check for v in self.violations))

    def document(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "checks": dict(self.checks),
            "violations": [
                {"check": v.check, "place": v.place, "message": v.message} for v in self.violations
            ],
        }


Describe = Callable[[int], str]
"""Text about one row of the facts under test."""


@dataclass
class Findings:
    """Collects facts while the checks run."""

    checks: dict[str, int] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def test(self, check: str, broken: BoolArray, place: Describe, message: Describe) -> None:
        """Count one fact per entry; entries that are True broke, and are described."""
        self.checks[check] += len(broken)
        rows = np.flatnonzero(broken)
        for row in rows[:REPORTED_PER_CHECK]:
            self.violations.append(Violation(check, place(int(row)), message(int(row))))
        more = len(rows) - REPORTED_PER_CHECK
        if more > 0:
            self.violations.append(Violation(check, "elsewhere", f"{more} more like these"))

    def require(self, check: str, holds: bool, place: str, message: str) -> None:
        """Count a single fact."""
        self.test(check, np.array([not holds]), lambda _: place, lambda _: message)

    def audit(self) -> Audit:
        """The verdict so far."""
        return Audit(dict(self.checks), list(self.violations))
