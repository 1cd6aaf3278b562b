"""The records as sorted arrays that refer to each other by row.

A damaged record must not stop the audit: a reference that leads nowhere becomes row -1, and what
hangs on it is left out of the later checks. The ``records`` check names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

    from thzsync.simulation.records import Run

LOW_32 = np.int64(0xFFFFFFFF)


def pack(first: IntArray, second: IntArray) -> IntArray:
    """Two 32-bit columns as one sortable key."""
    key: IntArray = (first << 32) | (second & LOW_32)
    return key


def find(keys: IntArray, wanted: IntArray) -> IntArray:
    """Row of every wanted key among sorted keys (the first of equals), -1 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1).astype(np.int64)
    return np.where(keys[row] == wanted, row, -1)


@dataclass(frozen=True)
class Lists:
    """A column of lists: the values in one row, and where each list begins (one more)."""

    start: IntArray
    values: AnyArray

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


class Table:
    """One table, complete rows only, sorted by its key."""

    def __init__(self, frame: pl.DataFrame, *key: str) -> None:
        import polars as pl

        complete = frame.drop_nulls()
        self.incomplete = frame.height - complete.height
        self.frame = complete.sort(key, maintain_order=True)
        self.key = pack(self[key[0]], self[key[1]]) if len(key) > 1 else self[key[0]]
        self._integer = {pl.Int32(), pl.Int64()}

    def __len__(self) -> int:
        return self.frame.height

    def __getitem__(self, column: str) -> IntArray:
        """A column of whole numbers (or booleans, as 0 and 1)."""
        return self.frame[column].to_numpy().astype(np.int64)

    def real(self, column: str) -> FloatArray:
        """A column of floating-point numbers."""
        return self.frame[column].to_numpy().astype(np.float64)

    def text(self, column: str) -> AnyArray:
        """A column of text."""
        return self.frame[column].to_numpy()

    def lists(self, column: str) -> Lists:
        """A column of lists; missing values inside a list become -1."""
        series = self.frame[column]
        lengths = series.list.len().to_numpy().astype(np.int64)
        values = series.filter(series.list.len() > 0).explode().fill_null(-1).to_numpy()
        return Lists(np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))), values)
