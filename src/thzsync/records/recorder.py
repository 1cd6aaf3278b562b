"""Collects what happened, column by column, and hands it over as frames."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from thzsync.arrays import AnyArray, IntArray
from thzsync.records.schema import TABLES, polars_schema

if TYPE_CHECKING:
    import polars as pl

SEGMENT_ROWS: Final = 1 << 18
SUMMARY: Final = ("iterations", "events")
"""Tables that are enough to compare policies."""


class Lists(NamedTuple):
    """A column of lists: row k holds ``values[start[k]:start[k + 1]]``."""

    start: IntArray
    values: Any


class Recorder:
    """Rows of the tables of one run, or of one iteration of it.

    Scalars and arrays of one length may be mixed in ``add``; scalars are repeated, and a column of
    lists is given as :class:`Lists` or, for a single row, as one list. Rows of tables that are
    not to be kept are dropped.
    """

    def __init__(self, keep: Collection[str] = tuple(TABLES)) -> None:
        self._keep = keep
        self._piles = {name: _Pile(name) for name in TABLES}

    def keeps(self, table: str) -> bool:
        """Whether it is worth while to work out rows of this table."""
        return table in self._keep

    def another(self) -> Recorder:
        """An empty one that keeps the same tables."""
        return Recorder(self._keep)

    def add(self, table: str, rows: int = 1, **columns: Any) -> None:
        """Append rows; every column of the table must be given."""
        if table not in self._keep:
            return
        if columns.keys() != TABLES[table].keys():
            raise KeyError(sorted(columns.keys() ^ TABLES[table].keys()))
        self._piles[table].add(rows, columns)

    def extend(self, other: Recorder) -> None:
        """Append everything that another one has collected, and take it from there."""
        for name, pile in other._piles.items():
            self._piles[name].extend(pile)

    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables, in the order in which things were added."""
        return {name: pile.frame() for name, pile in self._piles.items()}

    def new_frames(self) -> dict[str, pl.DataFrame]:
        """What was added since this was last asked."""
        return {name: pile.new_frame() for name, pile in self._piles.items()}


class _Pile:
    """Rows of one table: the latest as they came, those before them as frames.

    What comes is wide, such as whole numbers of 64 bits and arrays that keep larger ones alive. So
    a quarter of a million rows become a frame at once, and long tables take no more memory than
    they must.
    """

    def __init__(self, table: str) -> None:
        self._table = table
        self._frames: list[pl.DataFrame] = []
        self._parts: list[tuple[int, dict[str, Any]]] = []
        self._waiting = 0
        self._taken = 0

    def add(self, rows: int, columns: dict[str, Any]) -> None:
        self._parts.append((rows, columns))
        self._waiting += rows
        if self._waiting >= SEGMENT_ROWS:
            self._settle()

    def extend(self, other: _Pile) -> None:
        if other._frames:
            self._settle()
            other._frames.reverse()
            while other._frames:  # the frames of both are never there twice
                add_frame(self._frames, other._frames.pop())
        self._parts += other._parts
        self._waiting += other._waiting
        other._parts, other._waiting = [], 0
        if self._waiting >= SEGMENT_ROWS:
            self._settle()

    def frame(self) -> pl.DataFrame:
        whole = self._whole()
        if not _has_lists(whole):
            return in_segments(whole)
        self._frames = []  # joined column by column, so that the pieces are never all there twice
        columns = whole.get_columns()
        del whole
        for k in range(len(columns)):
            columns[k] = columns[k].rechunk()
        self._frames = [_framed(columns)]
        return self._frames[0]

    def new_frame(self) -> pl.DataFrame:
        found = self._whole()[self._taken :]
        self._taken += found.height
        return found

    def _whole(self) -> pl.DataFrame:
        import polars as pl

        self._settle()
        return pl.concat(self._frames or [_frame(self._table, [])], rechunk=False)

    def _settle(self) -> None:
        if self._parts:
            add_frame(self._frames, _frame(self._table, self._parts))
            self._parts, self._waiting = [], 0


def add_frame(pieces: list[pl.DataFrame], frame: pl.DataFrame) -> None:
    """Append a frame to a table in pieces, of which only the last is shorter than the others."""
    import polars as pl

    if _has_lists(frame):
        pieces.append(frame)
        return
    if pieces and pieces[-1].height < SEGMENT_ROWS:
        frame = pl.concat((pieces.pop(), frame), rechunk=False)
    starts = range(0, max(1, frame.height), SEGMENT_ROWS)
    pieces.extend(frame[k : k + SEGMENT_ROWS].rechunk() for k in starts)


def in_segments(frame: pl.DataFrame) -> pl.DataFrame:
    """A table in pieces of a fixed number of rows, so that equal tables are equal on disk.

    Tables with columns of lists are one piece: they are short, and how Polars writes a piece of a
    list depends on where it was cut.
    """
    import polars as pl

    if _has_lists(frame):
        return frame.rechunk()
    pieces: list[pl.DataFrame] = []
    add_frame(pieces, frame)
    return pl.concat(pieces, rechunk=False)


def _framed(columns: list[pl.Series]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(columns)


def _has_lists(frame: pl.DataFrame) -> bool:
    import polars as pl

    return any(isinstance(kind, pl.List) for kind in frame.schema.values())


def _frame(table: str, parts: list[tuple[int, dict[str, Any]]]) -> pl.DataFrame:
    """Rows as they came, as a frame."""
    import polars as pl

    schema = polars_schema(table)
    if not parts:
        return pl.DataFrame(schema=schema)
    series = []
    for name, dtype in schema.items():
        cells = [(rows, columns[name]) for rows, columns in parts]
        make = _list_series if isinstance(dtype, pl.List) else _series
        if isinstance(dtype, pl.String):
            make = _text_series
        series.append(make(name, cells, dtype))
    return pl.DataFrame(series)


def _series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    import polars as pl

    return pl.Series(name, _column(cells)).cast(dtype)


def _column(cells: list[tuple[int, Any]]) -> AnyArray:
    """All rows of a plain column: thousands of cells, most of them alike, in one NumPy call."""
    values = [cell for _, cell in cells]
    kinds = set(map(type, values))
    if np.ndarray not in kinds:
        return np.repeat(np.array(values), [rows for rows, _ in cells])
    if len(kinds) == 1:
        return np.concatenate(values)
    return np.concatenate(
        [v if isinstance(v, np.ndarray) else np.full(rows, v) for rows, v in cells]
    )


def _text_series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    import polars as pl

    words: list[str] = []
    for rows, cell in cells:
        words += [cell] * rows if isinstance(cell, str) else cell
    return pl.Series(name, words, dtype=dtype)


def _list_series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    """Lists of all rows from their lengths and values, without a Python object per value."""
    import polars as pl

    kind = np.float64 if dtype.inner.is_float() else np.int64
    lists = [cell for _, cell in cells]
    if any(isinstance(cell, Lists) for cell in lists):
        lists = [c if isinstance(c, Lists) else Lists(np.array([0, len(c)]), c) for c in lists]
        lengths = np.concatenate([rows.start[1:] - rows.start[:-1] for rows in lists])
        parts = [rows.values for rows in lists]
    else:
        lengths = np.array([len(cell) for cell in lists])
        parts = lists
    values = np.concatenate([np.asarray(part, dtype=kind) for part in parts])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    filled = (
        pl.DataFrame({"row": owner, name: pl.Series(values).cast(dtype.inner)})
        .group_by("row", maintain_order=True)
        .agg(name)
    )
    if filled.height == len(lengths):
        return filled[name]
    every = pl.DataFrame({"row": np.arange(len(lengths))})
    joined = every.join(filled, on="row", how="left", maintain_order="left")
    return joined[name].fill_null(pl.Series([[]], dtype=dtype))
