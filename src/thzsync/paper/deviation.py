"""Ours beside a published value: how far it is off, and how good that is."""

from __future__ import annotations

from typing import Any, Final

from thzsync.display import Column
from thzsync.display.columns import Row, digits, mean, published
from thzsync.display.metrics import Metric
from thzsync.display.numbers import DASH, MINUS
from thzsync.display.table import Value

NEAR_PCT: Final = 5.0
FAIR_PCT: Final = 15.0


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
