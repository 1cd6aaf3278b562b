"""Columns that tables of results have in common, and how their cells are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thzsync.display import Column, Interval, number
from thzsync.display.numbers import DASH, MINUS
from thzsync.display.table import Value
from thzsync.report.deviation import deviation_pct, deviation_text, deviation_tone
from thzsync.report.metrics import Metric
from thzsync.report.source import Row


def felt_columns() -> list[Column]:
    """The time that users feel: the iteration, and what of it compute does not hide."""
    return [
        Column("Makespan", "ms", key="makespan_ms", show=digits(4), priority=20),
        Column("Exposed", "ms", key="exposed_ms", show=digits(4), priority=20),
    ]


def felt(row: Row) -> list[Value]:
    """The cells of `felt_columns`."""
    return [mean(row, "makespan_ms"), mean(row, "exposed_ms")]


def beside_paper(metric: Metric, rank: int, judged: bool = True) -> list[Column]:
    """Ours, the paper's and the deviation, under one heading."""
    key, unit, group = metric.key, metric.unit, metric.short
    better = metric.better if judged else ""
    ours = Column("ours", unit, key, show=digits(metric.digits), better=better, group=group)
    paper = Column("paper", unit, f"paper_{key}", show=published(4), group=group, priority=5 + rank)
    deviation = Column(
        "deviation",
        key=f"deviation_{key}",
        show=deviation_text,
        group=group,
        tone=deviation_tone,
        priority=10 + rank,
    )
    return [ours, paper, deviation]


def triple(row: Row, metric: Metric) -> tuple[Value, ...]:
    """The cells of `beside_paper`."""
    paper = row.get(f"paper_{metric.key}")
    return mean(row, metric.key), paper, deviation_pct(row.get(metric.key), paper)


def mean(row: Row, key: str) -> Interval:
    """A mean of a row with the half-width that stands beside it."""
    return Interval(row.get(key), row.get(f"ci95_{key}"))


def digits(count: int) -> Callable[[Any], str]:
    """Numbers with exactly so many digits."""
    return lambda value: number(None if value is None else float(value), count, pad=True)


def published(count: int) -> Callable[[Any], str]:
    """With the digits that the paper gives, not padded to ours."""
    return lambda value: number(None if value is None else float(value), count)


def with_sign(decimals: int, unit: str = "") -> Callable[[Any], str]:
    """Differences: so many decimals and always a sign."""
    return lambda value: (
        DASH if value is None else f"{value:+.{decimals}f}{unit}".replace("-", MINUS)
    )
