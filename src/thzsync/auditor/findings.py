"""What an audit found: how many facts of each kind were checked, and which of them broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, FloatArray, IntArray
from thzsync.auditor import tables
from thzsync.display import counted
from thzsync.display.html import notebook_view
from thzsync.display.table import Column, Table

REPORTED_PER_CHECK: Final = 100
"""Most violations of one check that are listed: a damaged table can break a million facts."""
SHOWN_VIOLATIONS: Final = 20
"""Most violations that a notebook shows; `Audit.violations` has all that are listed."""
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

    def __repr__(self) -> str:
        broken = f"broken: {', '.join(self.broken)}" if self.violations else "all hold"
        return f"Audit({len(self.checks)} checks, {counted(self.facts, 'fact')}, {broken})"

    def table(self, title: str = "Audit") -> Table:
        """How many facts every check looked at, and whether they hold."""
        facts = Column("facts", show="{:,}".format)
        columns = (Column("check", left=True), facts, Column("verdict", left=True))
        rows = [
            [name, count, "broken" if name in self.broken else "ok" if count else "-"]
            for name, count in self.checks.items()
        ]
        caption = f"{counted(self.facts, 'fact')}, {'all hold' if self.ok else 'not all hold'}"
        return Table(title, columns, rows, caption)

    def _repr_html_(self) -> str:
        """What a notebook shows: what does not hold, then all checks."""
        if self.ok:
            return notebook_view(self.table())
        names = (Column(name, left=True) for name in ("check", "place", "message"))
        rows = [list(astuple(v)) for v in self.violations[:SHOWN_VIOLATIONS]]
        more = len(self.violations) - len(rows)
        caption = f"and {more} more" if more else ""
        found = notebook_view(Table("What does not hold", tuple(names), rows, caption))
        return found + notebook_view(self.table())

    def document(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


Describe = Callable[[int], str]
"""Text about one row of the facts under test."""


class Findings:
    """Collects facts while the checks run."""

    def __init__(self, checks: Iterable[str]) -> None:
        self.check = ""
        """Name of the check under way, for which facts count."""
        self._facts = dict.fromkeys(checks, 0)
        self._found: dict[str, list[Violation]] = {name: [] for name in self._facts}
        self._more = dict.fromkeys(self._facts, 0)

    def broken(self, facts: BoolArray | list[bool]) -> list[int]:
        """Count one fact per entry; the entries that are True, up to the most that are listed.

        The caller adds a violation for each.
        """
        self._facts[self.check] += len(facts)
        rows: list[int] = np.flatnonzero(facts).tolist()
        listed = rows[: REPORTED_PER_CHECK - len(self._found[self.check])]
        self._more[self.check] += len(rows) - len(listed)
        return listed

    def add(self, place: str, message: str) -> None:
        """List a fact that does not hold."""
        self._found[self.check].append(Violation(self.check, place, message))

    def require(self, holds: bool, place: str, message: str) -> None:
        """Count one fact, which must hold."""
        for _ in self.broken([not holds]):
            self.add(place, message)

    def equal(self, told: AnyArray, found: AnyArray, place: Describe, what: str) -> None:
        """Count one fact per recorded value ``told``, which must equal the computed ``found``."""
        for k in self.broken(told != found):
            self.add(place(k), f"{what} is {told[k]}, should be {found[k]}")

    def not_before(
        self, later: IntArray, earlier: IntArray, place: Describe, what: str, than: str
    ) -> None:
        """Count one fact per pair of instants [ps]: ``later`` must not lie before ``earlier``."""
        for k in self.broken(later < earlier):
            self.add(place(k), f"{what} at {later[k]} ps, {than} at {earlier[k]} ps")

    def compare(self, rows: tables.Table, column: str, found: FloatArray) -> None:
        """Count one fact per number of a column, which must equal ``found`` but for rounding."""
        told = getattr(rows, column)
        for k in self.broken(~np.isclose(told, found, rtol=TOLERANCE, atol=1e-12)):
            self.add(rows.name(k), f"{column} is {told[k]:.9g}, should be {found[k]:.9g}")

    def audit(self) -> Audit:
        """The verdict so far."""
        violations = []
        for check, found in self._found.items():
            violations += found
            if more := self._more[check]:
                violations.append(Violation(check, "elsewhere", f"{more} more like these"))
        return Audit(dict(self._facts), violations)
