"""Columns of recorded tables as sorted arrays, and look-ups between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl


def pack(first: IntArray, second: IntArray) -> IntArray:
    """Two 32-bit columns as one sortable key."""
    key: IntArray = (first << 32) | (second & 0xFFFFFFFF)
    return key


def find(keys: IntArray, wanted: IntArray) -> IntArray:
    """Row of every wanted key among sorted keys (the first of equals), -1 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1).astype(np.int64)
    return np.where(keys[row] == wanted, row, -1)


class Index:
    """Look-ups among keys that are not sorted."""

    def __init__(self, keys: IntArray) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def find(self, wanted: IntArray) -> IntArray:
        """Row of every wanted key (the first of equals), -1 where there is none."""
        row = find(self._keys, wanted)
        return np.where(row >= 0, np.append(self._order, -1)[row], -1)


def spread(start: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Expand runs ``start, start + 1, ...`` of ``count`` numbers: run and number of every entry."""
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    first = np.cumsum(count) - count
    return owner, start[owner] + np.arange(len(owner), dtype=np.int64) - first[owner]


def runs_of(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Where runs of equal keys begin, and how long they are."""
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return first, np.diff(np.append(first, len(keys)))


def sum_by(group: IntArray, values: AnyArray, groups: int) -> IntArray:
    """Exact sums of whole numbers by group; True counts as 1."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, values)
    return total


def real_sum_by(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Floating-point sums of values by group."""
    return np.bincount(group, values, minlength=groups).astype(np.float64)


def causal_order(before: dict[int, list[int]]) -> list[int] | None:
    """An order of rows that ``before`` allows (row -> those it waits for); None if there is none.

    There is none for a cycle, nor if a row waits for one that is no key.
    """
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return None
    return order if len(order) == len(before) else None


def complete(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without a missing value."""
    return frame.drop_nulls() if any(frame.null_count().row(0)) else frame


def _in_order(columns: list[AnyArray]) -> bool:
    """Whether rows are sorted by the first column, those that tie by the second, and so on."""
    tied = np.ones(max(len(columns[0]) - 1, 0), dtype=np.bool_)  # with the next row, so far
    for column in columns:
        if (tied & (column[1:] < column[:-1])).any():
            return False
        tied &= column[1:] == column[:-1]
    return True


@dataclass(frozen=True)
class Lists:
    """A column of lists, one list per row of the table."""

    start: IntArray
    """Place of every list's first value (one more entry)."""
    values: AnyArray
    """All values, list after list."""

    @property
    def lengths(self) -> IntArray:
        """Length of every list."""
        return np.diff(self.start)

    @property
    def owner(self) -> IntArray:
        """Row that every value belongs to."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int64), self.lengths)

    def of(self, row: int) -> AnyArray:
        """The list of one row."""
        values: AnyArray = self.values[self.start[row] : self.start[row + 1]]
        return values

    def shaped_like(self, other: Lists) -> AnyArray:
        """Values in the places of another column's; 0 where the two lists differ in length."""
        fits = self.lengths == other.lengths
        aligned = np.zeros(len(other.values), dtype=self.values.dtype)
        aligned[np.repeat(fits, other.lengths)] = self.values[np.repeat(fits, self.lengths)]
        return aligned


class Named:
    """Rows that messages call by a name."""

    def name(self, row: int) -> str:
        """How messages call a row."""
        raise NotImplementedError

    def at(self, rows: IntArray) -> Callable[[int], str]:
        """How messages call the k-th of some rows."""
        return lambda k: self.name(int(rows[k]))


class Table(Named):
    """One table, complete rows only, sorted by its key (one column or two) and further columns.

    Every column is an attribute, whole numbers in 64 bits.
    """

    title: ClassVar[str]
    """How messages call a row, with the names of its columns in braces."""

    def __init__(
        self, frame: pl.DataFrame, key: tuple[str, ...], then: tuple[str, ...] = ()
    ) -> None:
        self.frame = complete(frame)
        self.incomplete = frame.height - self.frame.height
        """Rows with a missing value, which are left out."""
        if not _in_order([self.frame[name].to_numpy() for name in key + then]):
            self.frame = self.frame.sort(key + then, maintain_order=True)
        columns = [self._read(name) for name in key]
        self.key: IntArray = pack(*columns) if len(key) > 1 else columns[0]

    def __len__(self) -> int:
        return self.frame.height

    def _read(self, column: str) -> AnyArray:
        values = self.frame[column].to_numpy()
        return values.astype(np.int64, copy=False) if values.dtype.kind in "iu" else values

    def __getattr__(self, column: str) -> AnyArray:
        """A column, read when it is first asked for."""
        if "frame" not in self.__dict__ or column not in self.frame.columns:
            raise AttributeError(column)
        values = self.__dict__[column] = self._read(column)
        return values

    def name(self, row: int) -> str:
        """How messages call a row."""
        return self.title.format(**self.frame.row(row, named=True))

    def lists(self, column: str) -> Lists:
        """A column of lists; a missing value inside a list becomes -1."""
        series = self.frame[column]
        lengths = series.list.len().to_numpy().astype(np.int64)
        values = series.filter(lengths > 0).explode().fill_null(-1).to_numpy()
        kind = np.float64 if values.dtype.kind == "f" else np.int64
        start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        return Lists(start, values.astype(kind))
