"""The table that says how near flows are to packets."""

from __future__ import annotations

from typing import Final

from thzsync.display import Column, Interval, Table
from thzsync.display.columns import with_sign
from thzsync.display.kinds import kind_look
from thzsync.display.table import Value
from thzsync.records.certificate import Certificate, Certified

_CAPTION: Final = (
    "Events of this simulation in flow fidelity that were carried out again packet by packet: all "
    "their time in flows over that in packets, less one; ± is the 95 % interval. “Undecided” is an "
    "error whose interval includes the tolerance: a larger optical.replayed_share sharpens it."
)


def fidelity_tables(found: Certificate | None) -> list[Table]:
    """A row per collective type, where it is worst; nothing where nothing was replayed."""
    if found is None or not found.rows:
        return []
    several = len(found.rows) > len(found.worst())
    columns = (
        Column("Collective", left=True),
        *((Column("Where it is worst", left=True),) if several else ()),
        Column("Events replayed"),
        Column("Error", "%", show=with_sign(2)),
        Column("Tolerance", "%", show="{:g}".format),
        Column("Verdict", left=True),
    )
    rows = [_row(row, several) for row in found.worst()]
    return [Table("Flow fidelity", columns, rows, _CAPTION)]


def _row(row: Certified, several: bool) -> list[Value]:
    kind, events, error, ci95 = row.found
    return [
        kind_look(kind).label,
        *([row.where] if several else []),
        events,
        Interval(100 * error, None if ci95 is None else 100 * ci95),
        100 * row.tolerance,
        row.verdict,
    ]
