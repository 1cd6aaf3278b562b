"""Tables of any comparison's results: for the terminal, the page and Markdown alike.

``sweep_tables`` has those of sweeps; those beside published numbers are in ``thzsync.paper``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from thzsync.display import Column, Table
from thzsync.display.columns import Row, digits, mean
from thzsync.display.kinds import kind_look
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.table import Value

QUICK: Final = "Quick look: fewer seeds, sizes or iterations than in the paper."


def marked(table: Table, quick: bool) -> Table:
    """The table; if it comes from a quick reproduction, its caption says so."""
    if not quick:
        return table
    return replace(table, caption=f"{QUICK} {table.caption}".rstrip())


def collectives(rows: Iterable[Row], caption: str = "") -> Table:
    """How long every collective type takes and how fast that is, by policy."""
    columns = (
        Column("Collective", left=True),
        Column("Policy", left=True),
        Column("Events"),
        Column("Completion", "ms", show=digits(4)),
        Column("algbw", "GB/s", show=digits(3)),
        Column("busbw", "GB/s", show=digits(3)),
    )
    body: list[list[Value]] = [
        [
            kind_look(row["kind"]).label,
            label(POLICY_LABELS, row["policy"]),
            row["events"],
            *(mean(row, key) for key in ("completion_ms", "algbw_gb_s", "busbw_gb_s")),
        ]
        for row in rows
    ]
    return Table("Bandwidth by collective", columns, body, caption)
