"""Measured speed beside the budgets."""

from __future__ import annotations

from typing import Any

from thzsync.display import Column, Table
from thzsync.display.columns import digits
from thzsync.display.table import Value


def speed_table(measured: dict[str, Any]) -> Table:
    """What ``thzsync bench all --json`` wrote; what was not measured is left out."""
    columns = (
        Column("What", left=True),
        Column("measured"),
        Column("budget"),
        Column("second edition"),
    )
    body: list[list[Value]] = [
        [
            row["what"],
            f"{digits(3)(row['today'])} {row['unit']}",
            "–" if row["budget"] is None else f"{_sign(row)} {row['budget']:g}",
            "–" if row.get("second_edition") is None else f"{row['second_edition']:g}",
        ]
        for row in measured.get("budgets", ())
        if row["today"] is not None
    ]
    return Table("Speed", columns, body)


def _sign(row: dict[str, Any]) -> str:
    return "≥" if row["at_least"] else "≤"
