"""Measured speed beside the budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from thzsync.display import Column, Table
from thzsync.display.table import Value
from thzsync.report.kinds import kind_look
from thzsync.report.tables import digits


def speed_table(measured: dict[str, Any]) -> Table:
    """Measured speed beside the budgets; what was not measured is left out."""
    columns = (Column("What", left=True), Column("measured"), Column("budget"))
    body: list[list[Value]] = [
        [what, f"{digits(3)(value)} {unit}", f"{limit} {unit}"]
        for what, value, unit, limit in _speeds(measured)
    ]
    return Table("Speed", columns, body)


def _speeds(measured: dict[str, Any]) -> Iterator[tuple[str, float, str, str]]:
    optical, rounds = measured.get("optical", {}), measured.get("synthesis", {})
    if optical:
        rate = optical["packet_hops_per_s"] / 1e6
        yield "Packet-hops per CPU-second, optical kernel", rate, "M", "≥ 8"
        if "ratio" in optical:
            yield "The same beside a SimPy model", optical["ratio"], "×", "≥ 60"
        growth = optical["cost_ratio_1024_to_32_racks"]
        yield "Cost per packet-hop, 1024 racks against 32", growth, "×", "≤ 2"
    if rounds:
        limit = f"≤ {rounds['a2a_round_budget_ms']:g}"
        yield "One All-to-All round, 12 racks", rounds["a2a_round_ms"], "ms", limit
        limit = f"≤ {rounds['p2p_chunk_budget_us']:g}"
        yield "One P2P chunk", rounds["p2p_chunk_us"], "µs", limit
    for kind, budget in (("p2p", "≤ 0.5"), ("a2a", "≤ 3"), ("allreduce", "≤ 3")):
        timing = measured.get("decision", {}).get(kind)
        if timing:
            name = f"One decision, {kind_look(kind).label}, median"
            yield name, timing["p50_us"] / 1e3, "ms", budget
