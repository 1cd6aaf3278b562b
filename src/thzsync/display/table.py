"""A table of results: what its columns mean, and plain values; renderers decide how it looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

from thzsync.display.numbers import fitting_unit, half_width, number


@dataclass(frozen=True)
class Interval:
    """A mean and the half-width of its 95 % interval, where there is one."""

    mean: float | None
    half: float | None = None
    best: bool = False
    """Whether it is printed bold in a table of paired candidates."""

    @property
    def known(self) -> bool:
        """Whether the mean is a finite number."""
        return self.mean is not None and isfinite(self.mean)


Value = str | int | float | bool | Interval | None


@dataclass(frozen=True)
class Column:
    """One column: how it is called, how its values read, and when it may be left out."""

    name: str
    unit: str = ""
    """Every column of a table that has this unit is shown in the one that fits their size."""
    key: str = ""
    """What `Table.only` picks it by; its name unless told."""
    left: bool = False
    """Words stand on the left, numbers on the right."""
    show: Callable[[Any], str] = number
    priority: int = 0
    """On a narrow screen the highest goes first; a column of priority 0 is never left out."""
    better: Literal["", "low", "high"] = ""
    """Which end is better; the best of several rows is then printed bold."""
    group: str = ""
    """Neighbours of one group share a heading, which names the quantity."""
    tone: Callable[[Any], str] | None = None
    """A judgement of the value: ``near``, ``fair``, ``far`` or nothing."""

    @property
    def heading(self) -> str:
        """The column's own name with its unit."""
        return _with_unit(self.name, "" if self.group else self.unit)

    @property
    def group_heading(self) -> str:
        """The group's name with the unit that its columns share."""
        return _with_unit(self.group, self.unit if self.group else "")


@dataclass(frozen=True)
class Cell:
    """One value as text."""

    text: str
    half: str = ""
    """The half-width of its interval, with a sign in front."""
    tone: str = ""
    best: bool = False

    def __str__(self) -> str:
        return f"{self.text} {self.half}".rstrip()


@dataclass(frozen=True)
class Table:
    """Titled rows of plain values under described columns."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    marks: Sequence[int] = ()
    """Style index of every row's series, for renderers that can draw its mark."""
    paired: bool = False
    """Bold follows `Interval.best`, which goes by paired differences, not by the intervals."""

    def only(self, *keys: str) -> Table:
        """The same table with these columns, in this order."""
        places = {column.key or column.name: k for k, column in enumerate(self.columns)}
        return self._keep([places[key] for key in keys])

    def without(self, dropped: Sequence[int]) -> Table:
        """The same table without the columns at these places."""
        return self._keep([k for k in range(len(self.columns)) if k not in dropped])

    def _keep(self, places: Sequence[int]) -> Table:
        return replace(
            self,
            columns=tuple(self.columns[k] for k in places),
            rows=[[row[k] for k in places] for row in self.rows],
        )

    def fitted(self) -> Table:
        """The same table in units that fit its values, such as seconds for 62,920 ms."""
        units = {column.unit for column in self.columns}
        fits = {unit: fitting_unit(unit, self._largest(unit)) for unit in units}
        factors = [fits[column.unit][1] for column in self.columns]
        return replace(
            self,
            columns=tuple(replace(column, unit=fits[column.unit][0]) for column in self.columns),
            rows=[list(map(_times, row, factors)) for row in self.rows],
        )

    def _largest(self, unit: str) -> float | None:
        places = [k for k, column in enumerate(self.columns) if column.unit == unit]
        found = (_interval(row[k]) for row in self.rows for k in places)
        return max((abs(v.mean or 0.0) for v in found if v.known), default=None)

    def headings(self) -> list[str]:
        """One line of headings: the first column of a group carries the group's name."""
        seen: set[str] = set()
        named = []
        for column in self.columns:
            opens = bool(column.group) and column.group not in seen
            seen.add(column.group)
            named.append(column.group_heading if opens else column.heading)
        return named

    def groups(self) -> list[tuple[str, int]]:
        """Headings above the headings with the number of columns they span.

        None where no heading would stand above two columns: one line is enough then.
        """
        spans: list[tuple[str, int]] = []
        last: str | None = None
        for column in self.columns:
            if column.group == last:
                spans[-1] = (spans[-1][0], spans[-1][1] + 1)
            else:
                spans.append((column.group_heading, 1))
            last = column.group
        return spans if any(name and span > 1 for name, span in spans) else []

    def cells(self) -> list[list[Cell]]:
        """Every value as text."""
        best = zip(*map(self._best, range(len(self.columns))), strict=True)
        return [
            list(map(_cell, self.columns, row, bold))
            for row, bold in zip(self.rows, best, strict=True)
        ]

    def has_best(self) -> bool:
        """Whether some cell is printed bold."""
        return any(any(self._best(k)) for k in range(len(self.columns)))

    def _best(self, place: int) -> list[bool]:
        """Which cells of a column are bold: with the best mean, or an interval that meets it."""
        better = self.columns[place].better
        values = [_interval(row[place]) for row in self.rows]
        known = [value for value in values if value.known]
        if self.paired:
            return [value.best for value in values]
        if not better or len(known) < 2:
            return [False] * len(values)
        best = (min if better == "low" else max)(known, key=lambda value: value.mean or 0.0)
        return [value.known and _meets(value, best) for value in values]


def markdown_table(table: Table) -> str:
    """The table in pipes, and its caption below; its title is the page's own heading."""
    fitted = table.fitted()
    rule = ["---" if column.left else "---:" for column in fitted.columns]
    body = [[str(cell).replace("|", r"\|") for cell in row] for row in fitted.cells()]
    lines = [f"| {' | '.join(line)} |" for line in (fitted.headings(), rule, *body)]
    return "\n".join(lines) + (f"\n\n{fitted.caption}" if fitted.caption else "")


def _cell(column: Column, value: Value, best: bool) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    found = _interval(value)
    half = half_width(found.mean, found.half, pad=True) if found.known else ""
    tone = column.tone(found.mean) if column.tone and found.known else ""
    return Cell(column.show(found.mean), f"± {half}" if half else "", tone, best)


def _meets(value: Interval, best: Interval) -> bool:
    assert value.mean is not None
    assert best.mean is not None
    reach = sum(half for half in (value.half, best.half) if half is not None and isfinite(half))
    return abs(value.mean - best.mean) <= reach


def _interval(value: Value) -> Interval:
    if isinstance(value, str):
        return Interval(None)
    return value if isinstance(value, Interval) else Interval(value)


def _times(value: Value, factor: float) -> Value:
    found = _interval(value)
    if factor == 1.0 or found.mean is None:
        return value
    return replace(found, mean=found.mean * factor, half=found.half and found.half * factor)


def _with_unit(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit and name else name
