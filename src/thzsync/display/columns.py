"""Columns that tables of results have in common, and how their cells are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thzsync.display.numbers import DASH, MINUS, number
from thzsync.display.table import Column, Interval, Value

Row = dict[str, Any]


def felt_columns() -> list[Column]:
    """The time that users feel: the iteration, and what of it compute does not hide."""
    return [
        Column("Iteration time", "ms", key="makespan_ms", show=digits(4), priority=20),
        Column("Exposed", "ms", key="exposed_ms", show=digits(4), priority=20),
    ]


def felt(row: Row) -> list[Value]:
    """The cells of `felt_columns`."""
    return [mean(row, "makespan_ms"), mean(row, "exposed_ms")]


def mean(row: Row, key: str) -> Interval:
    """A mean of a row with the half-width that stands beside it."""
    return Interval(row.get(key), row.get(f"ci95_{key}"))


def digits(count: int) -> Callable[[Any], str]:
    """Numbers with exactly so many digits."""
    return lambda value: number(None if value is None else float(value), count, pad=True)


def published(count: int) -> Callable[[Any], str]:
    """With the digits that a source gives, not padded to ours."""
    return lambda value: number(None if value is None else float(value), count)


def with_sign(decimals: int, unit: str = "") -> Callable[[Any], str]:
    """Differences: so many decimals and always a sign."""
    return lambda value: (
        DASH if value is None else f"{value:+.{decimals}f}{unit}".replace("-", MINUS)
    )
