"""Tables of collectives alone on THz, beside what the paper reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from thzsync.display import Column, Interval, Table
from thzsync.display.columns import Row, digits, published, with_sign
from thzsync.display.kinds import kind_look
from thzsync.display.labels import METHOD_LABELS, label
from thzsync.display.numbers import DASH
from thzsync.display.table import Value
from thzsync.paper.deviation import deviation_pct, deviation_text, deviation_tone


def synthesis(rows: Iterable[Row], title: str = "Published and ours", caption: str = "") -> Table:
    """Completion times of single collectives beside the published ones and the lower bound."""
    columns = (
        Column("Collective", left=True),
        Column("Method", left=True),
        Column("Racks"),
        Column("ours", "ms", show=digits(4)),
        Column("paper", "ms", show=published(4), priority=2),
        Column("deviation", show=deviation_text, tone=deviation_tone, priority=3),
        Column("× bound", show=_times, priority=4),
    )
    return Table(title, columns, [_synthesis_row(row) for row in rows], caption)


def _synthesis_row(row: Row) -> list[Value]:
    ours, paper, bound = row["mean_ms"], row.get("paper_ms"), row.get("bound_ms")
    return [
        setting(row["collective"], row["stragglers"]),
        label(METHOD_LABELS, row["method"]),
        row["racks"],
        Interval(ours, row.get("ci95_ms")),
        paper,
        deviation_pct(ours, paper),
        ours / bound if bound else None,
    ]


def ablations(rows: Iterable[Row], caption: str = "") -> Table:
    """How much slower the proposed methods are without one of their parts."""
    columns = (
        Column("12 racks", left=True),
        Column("Without", left=True),
        Column("ours", "%", show=with_sign(1)),
        Column("paper, four settings", "%", priority=1),
    )
    body: list[list[Value]] = [
        [
            setting(row["collective"], row["stragglers"]),
            label(METHOD_LABELS, row["method"]),
            row["increase_pct"],
            _span(row.get("paper_least_pct"), row.get("paper_most_pct")),
        ]
        for row in rows
    ]
    return Table("What each part of Proposed is worth", columns, body, caption)


def setting(collective: str, stragglers: bool) -> str:
    """A collective, and whether some racks are late."""
    return kind_look(collective).label + (", stragglers" if stragglers else "")


def _times(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _span(least: Any, most: Any) -> str:
    if least is None and most is None:
        return DASH
    return f"{published(4)(least)} to {published(4)(most)}"
