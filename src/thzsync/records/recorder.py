"""Collects the rows of a run, column by column, and returns them as frames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
        """Whether rows of this table are kept, so that they need computing."""
        return table in self._keep

    def another(self) -> Recorder:
        """An empty recorder that keeps the same tables."""
        return Recorder(self._keep)

    def add(self, table: str, rows: int = 1, **columns: Any) -> None:
        """Append rows; every column of the table must be given."""
        if table not in self._keep:
            return
        if columns.keys() != TABLES[table].keys():
            raise KeyError(sorted(columns.keys() ^ TABLES[table].keys()))
        self._piles[table].add(rows, columns)

    def extend(self, other: Recorder) -> None:
        """Move all rows of another recorder to this one."""
        for name, pile in other._piles.items():
            self._piles[name].extend(pile)

    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables, in the order in which things were added."""
        return {name: pile.frame() for name, pile in self._piles.items()}

    def new_frames(self) -> dict[str, pl.DataFrame]:
        """The rows added since the last call."""
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
            while other._frames:  # both recorders never hold the same frames
                add_frame(self._frames, other._frames.pop())
        self._parts += other._parts
        self._waiting += other._waiting
        other._parts, other._waiting = [], 0
        if self._waiting >= SEGMENT_ROWS:
            self._settle()

    def frame(self) -> pl.DataFrame:
        import polars as pl

        self._settle()
        return pl.concat(self._frames or [_frame(self._table, [])], rechunk=False)

    def new_frame(self) -> pl.DataFrame:
        found = self.frame()[self._taken :]
        self._taken += found.height
        return found

    def _settle(self) -> None:
        if self._parts:
            add_frame(self._frames, _frame(self._table, self._parts))
            self._parts, self._waiting = [], 0


def add_frame(pieces: list[pl.DataFrame], frame: pl.DataFrame) -> None:
    """Append a frame to a table in pieces, of which only the last is shorter than the others."""
    import polars as pl

    if pieces and pieces[-1].height < SEGMENT_ROWS:
        frame = pl.concat((pieces.pop(), frame), rechunk=False)
    starts = range(0, max(1, frame.height), SEGMENT_ROWS)
    pieces.extend(_piece(frame[k : k + SEGMENT_ROWS]) for k in starts)


def in_segments(frame: pl.DataFrame) -> pl.DataFrame:
    """A table in pieces of a fixed number of rows, so that equal tables are equal on disk."""
    import polars as pl

    pieces: list[pl.DataFrame] = []
    add_frame(pieces, frame)
    return pl.concat(pieces, rechunk=False)


def _piece(rows: pl.DataFrame) -> pl.DataFrame:
    """In one piece; lists are copied, since how Polars writes them depends on where it cut them."""
    import polars as pl

    lists = [name for name, kind in rows.schema.items() if isinstance(kind, pl.List)]
    all_rows = np.arange(rows.height)
    return rows.rechunk().with_columns(rows[name].gather(all_rows) for name in lists)


def _frame(table: str, parts: list[tuple[int, dict[str, Any]]]) -> pl.DataFrame:
    """Rows as they came, as a frame."""
    import polars as pl

    schema = polars_schema(table)
    if not parts:
        return pl.DataFrame(schema=schema)
    series = []
    for name, dtype in schema.items():
        cells = [(rows, columns[name]) for rows, columns in parts]
        if isinstance(dtype, pl.List):
            series.append(list_series(name, [cell for _, cell in cells], dtype))
        elif isinstance(dtype, pl.String):
            series.append(_text_series(name, cells, dtype))
        else:
            series.append(pl.Series(name, _column(cells)).cast(dtype))
    return pl.DataFrame(series)


def _column(cells: list[tuple[int, Any]]) -> AnyArray:
    """All rows of a plain column: thousands of cells, most of them alike, in one NumPy call."""
    if not any(isinstance(value, np.ndarray) for _, value in cells):
        return np.repeat(np.array([value for _, value in cells]), [rows for rows, _ in cells])
    return np.concatenate(
        [v if isinstance(v, np.ndarray) else np.full(rows, v) for rows, v in cells]
    )


def _text_series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    import polars as pl

    words: list[str] = []
    for rows, cell in cells:
        words += [cell] * rows if isinstance(cell, str) else cell
    return pl.Series(name, words, dtype=dtype)


def list_series(name: str, lists: Sequence[Any], dtype: pl.List) -> pl.Series:
    """Lists of all rows from their lengths and values, without a Python object per value.

    Every one is a row, or several rows as :class:`Lists`.
    """
    import polars as pl

    if not lists:
        return pl.Series(name, [], dtype=dtype)
    inner: Any = dtype.inner
    if any(isinstance(rows, Lists) for rows in lists):
        several = [r if isinstance(r, Lists) else Lists(np.array([0, len(r)]), r) for r in lists]
        lengths = np.concatenate([rows.start[1:] - rows.start[:-1] for rows in several])
        lists = [rows.values for rows in several]
    else:
        lengths = np.array([len(row) for row in lists])
    kind = np.float64 if inner.is_float() else np.int64
    values = np.concatenate([np.asarray(part, dtype=kind) for part in lists])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    rows_of = pl.DataFrame({"row": owner, name: pl.Series(values).cast(inner)})
    filled = rows_of.group_by("row", maintain_order=True).agg(name)
    if filled.height == len(lengths):
        return filled[name]
    every = pl.DataFrame({"row": np.arange(len(lengths))})
    joined = every.join(filled, on="row", how="left", maintain_order="left")
    return joined[name].fill_null(pl.Series([[]], dtype=dtype))
