"""Ours beside a published value: how far it is off, and how good that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from thzsync.display import Column, Table
from thzsync.display.columns import Row, digits, mean, published
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.metrics import Metric
from thzsync.display.numbers import DASH, MINUS
from thzsync.display.table import Value

NEAR_PCT: Final = 5.0
FAIR_PCT: Final = 15.0

Columns = Iterable[Column | tuple[Column, Callable[[Row], Value]]]
"""Columns; one whose values do not stand in a row under its key has a function that finds them."""


def tabulate(
    title: str, rows: Iterable[Row], columns: Columns, caption: str = "", marks: Sequence[int] = ()
) -> Table:
    """The table of some rows; means have their intervals."""
    found = [column if isinstance(column, tuple) else (column, None) for column in columns]
    body = [
        [read(row) if read else _value(row, column.key) for column, read in found] for row in rows
    ]
    return Table(title, tuple(column for column, _ in found), body, caption, marks)


def _value(row: Row, key: str) -> Value:
    return mean(row, key) if f"ci95_{key}" in row else row.get(key)


def policy_label(row: Row) -> str:
    """The policy of a row, as tables call it."""
    return label(POLICY_LABELS, row["policy"])


def deviation_pct(ours: Any, published: Any) -> float | None:
    """How far ours is from the published value, relative to its size [%]."""
    if ours is None or not published:
        return None
    return float(100 * (ours - published) / abs(published))


def shown_pct(percent: float) -> float:
    """The deviation as it is printed; this is what is judged, so that text and colour agree."""
    return round(percent, 1)


def deviation_text(percent: float | None) -> str:
    """A signed percentage, or a dash where nothing was published."""
    if percent is None:
        return DASH
    shown = shown_pct(percent)
    sign = "+" if shown > 0 else MINUS if shown < 0 else ""
    return f"{sign}{abs(shown):.1f} %"


def deviation_tone(percent: float) -> str:
    """``near``, ``fair`` or ``far``."""
    size = abs(shown_pct(percent))
    return "near" if size <= NEAR_PCT else "fair" if size <= FAIR_PCT else "far"


def beside_paper(metric: Metric, rank: int, judged: bool = True) -> Columns:
    """Ours, the paper's and the deviation, under one heading."""
    key, paper, unit, group = metric.key, f"paper_{metric.key}", metric.unit, metric.short
    better = metric.better if judged else ""
    yield Column("ours", unit, key, show=digits(metric.digits), better=better, group=group)
    yield Column("paper", unit, paper, show=published(4), group=group, priority=5 + rank)
    yield (
        Column(
            "deviation",
            key=f"deviation_{key}",
            show=deviation_text,
            group=group,
            tone=deviation_tone,
            priority=10 + rank,
        ),
        lambda row: deviation_pct(row.get(key), row.get(paper)),
    )
