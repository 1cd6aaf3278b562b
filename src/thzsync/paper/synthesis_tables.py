"""Tables of collectives alone on THz, beside what the paper reports."""

from __future__ import annotations

from collections.abc import Iterable

from thzsync.display import Column, Interval, Table
from thzsync.display.columns import Row, digits, published, with_sign
from thzsync.display.kinds import kind_look
from thzsync.display.labels import METHOD_LABELS, label
from thzsync.display.numbers import DASH
from thzsync.paper.deviation import (
    Columns,
    deviation_pct,
    deviation_text,
    deviation_tone,
    tabulate,
)


def synthesis(rows: Iterable[Row], title: str = "Published and ours", caption: str = "") -> Table:
    """Completion times of single collectives beside the published ones and the lower bound."""
    columns: Columns = [
        (Column("Collective", left=True), _setting),
        (Column("Method", left=True), _method),
        Column("Racks", key="racks"),
        (
            Column("ours", "ms", show=digits(4)),
            lambda row: Interval(row["mean_ms"], row.get("ci95_ms")),
        ),
        Column("paper", "ms", "paper_ms", show=published(4), priority=2),
        (
            Column("deviation", show=deviation_text, tone=deviation_tone, priority=3),
            lambda row: deviation_pct(row["mean_ms"], row.get("paper_ms")),
        ),
        (
            Column("× bound", show=_times, priority=4),
            lambda row: row["mean_ms"] / row["bound_ms"] if row.get("bound_ms") else None,
        ),
    ]
    return tabulate(title, rows, columns, caption)


def ablations(rows: Iterable[Row], caption: str = "") -> Table:
    """How much slower the proposed methods are without one of their parts."""
    columns: Columns = [
        (Column("12 racks", left=True), _setting),
        (Column("Without", left=True), _method),
        Column("ours", "%", "increase_pct", show=with_sign(1)),
        (Column("paper, four settings", "%", priority=1), _span),
    ]
    return tabulate("What each part of Proposed is worth", rows, columns, caption)


def _setting(row: Row) -> str:
    """A collective, and whether some racks are stragglers."""
    return kind_look(row["collective"]).label + (", stragglers" if row["stragglers"] else "")


def _method(row: Row) -> str:
    return label(METHOD_LABELS, row["method"])


def _times(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _span(row: Row) -> str:
    least, most = row.get("paper_least_pct"), row.get("paper_most_pct")
    if least is None and most is None:
        return DASH
    return f"{published(4)(least)} to {published(4)(most)}"
