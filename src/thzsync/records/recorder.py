"""Collects what happened, column by column, and hands it over as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thzsync.arrays import AnyArray, IntArray
from thzsync.records.schema import TABLES, polars_schema

if TYPE_CHECKING:
    import polars as pl


class Lists(NamedTuple):
    """A column of lists: row k holds ``values[start[k]:start[k + 1]]``."""

    start: IntArray
    values: Any


class Recorder:
    """Rows of the tables of one run, or of one iteration of it.

    Scalars and arrays of one length may be mixed in ``add``; scalars are repeated, and a column of
    lists is given as :class:`Lists` or, for a single row, as one list.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in TABLES}
        self._taken = dict.fromkeys(TABLES, 0)

    def add(self, table: str, rows: int = 1, **columns: Any) -> None:
        """Append rows; every column of the table must be given."""
        if columns.keys() != TABLES[table].keys():
            raise KeyError(sorted(columns.keys() ^ TABLES[table].keys()))
        self._parts[table].append((rows, columns))

    def extend(self, other: Recorder) -> None:
        """Append everything that another one has collected."""
        for name, parts in other._parts.items():
            self._parts[name] += parts

    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables, in the order in which things were added."""
        return {name: self._frame(name, 0) for name in TABLES}

    def new_frames(self) -> dict[str, pl.DataFrame]:
        """What was added since this was last asked."""
        frames = {name: self._frame(name, self._taken[name]) for name in TABLES}
        self._taken = {name: len(parts) for name, parts in self._parts.items()}
        return frames

    def _frame(self, table: str, first: int) -> pl.DataFrame:
        import polars as pl

        schema, parts = polars_schema(table), self._parts[table][first:]
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
    arrays = sum(isinstance(cell, np.ndarray) for cell in values)
    if arrays == 0:
        return np.repeat(np.array(values), [rows for rows, _ in cells])
    if arrays == len(values):
        return np.concatenate(values)
    return np.concatenate([np.broadcast_to(np.asarray(v), (rows,)) for rows, v in cells])


def _text_series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    import polars as pl

    words: list[str] = []
    for rows, cell in cells:
        words += [cell] * rows if isinstance(cell, str) else cell
    return pl.Series(name, words, dtype=dtype)


def _list_series(name: str, cells: list[tuple[int, Any]], dtype: Any) -> pl.Series:
    """Lists of all rows from their lengths and values, without a Python object per value."""
    import polars as pl

    lists = [c if isinstance(c, Lists) else Lists(np.array([0, len(c)]), c) for _, c in cells]
    lengths = np.concatenate([np.diff(rows.start) for rows in lists])
    kind = np.float64 if dtype.inner.is_float() else np.int64
    values = np.concatenate([np.asarray(rows.values, dtype=kind) for rows in lists])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    filled = (
        pl.DataFrame({"row": owner, name: pl.Series(values).cast(dtype.inner)})
        .group_by("row", maintain_order=True)
        .agg(name)
    )
    every = pl.DataFrame({"row": np.arange(len(lengths))})
    joined = every.join(filled, on="row", how="left", maintain_order="left")
    return joined[name].fill_null(pl.Series([[]], dtype=dtype))
