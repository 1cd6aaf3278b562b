"""Measured speed beside the budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thzsync.display import Column, Table
from thzsync.display.table import Value
from thzsync.experiments.budgets import judged
from thzsync.report.columns import digits


def speed_table(measured: dict[str, Any]) -> Table:
    """Measured speed beside the budgets; what was not measured is left out."""
    columns = (
        Column("What", left=True),
        Column("measured"),
        Column("at pace 1"),
        Column("budget"),
        Column("first edition"),
    )
    show = digits(3)
    body: list[list[Value]] = [
        [
            row["what"],
            f"{show(row['today'])} {row['unit']}",
            show(row["at_pace"]),
            f"{'≥' if row['at_least'] else '≤'} {row['budget']:g}",
            "–" if row["first_edition"] is None else f"{row['first_edition']:g}",
        ]
        for row in judged(measured)
        if row["today"] is not None
    ]
    body += [[what, value, "–", "–", "–"] for what, value in _others(measured)]
    return Table("Speed", columns, body)


def _others(measured: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Figures without a budget of the second edition."""
    show = digits(3)
    growth = measured.get("optical", {}).get("cost_ratio_1024_to_32_racks")
    if growth is not None:
        yield "cost per packet-hop, 1024 racks against 32", f"{show(growth)} times"
    rounds = measured.get("synthesis", {})
    if rounds:
        yield "one All-to-All round, 12 racks", f"{show(rounds['a2a_round_ms'])} ms"
        yield "one P2P chunk", f"{show(rounds['p2p_chunk_us'])} µs"
    for peer, found in measured.get("peers", {}).items():
        if "we_are_faster" in found:
            yield f"optical kernel beside {peer}", f"{show(found['we_are_faster'])} times"
