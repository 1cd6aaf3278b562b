"""The tables of results: which stand on the page, in which of its sections, and what they hold.

``sweep_tables`` has those of sweeps; those beside published numbers are in ``thzsync.paper``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from thzsync.display import Column, Interval, Table
from thzsync.display.columns import Row, digits, mean, with_sign
from thzsync.display.kinds import kind_look
from thzsync.display.labels import policy_name
from thzsync.display.metrics import more_energy
from thzsync.display.table import Value
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.records.certificate import Certificate, Certified
from thzsync.report.contest import reference_row
from thzsync.report.curves import collective_rows
from thzsync.report.source import Results
from thzsync.report.sweep_tables import sweep_tables

QUICK: Final = "Quick look: fewer seeds, sizes or iterations than in the paper."
BANDWIDTH: Final = (
    "Bandwidths as nccl-tests defines them: algbw is all bytes over all time of a collective "
    "type, busbw that times what the busiest rack must send of every byte."
)
ABLATIONS: Final = "How much slower the proposed synthesis becomes without one of its parts."
FIDELITY: Final = (
    "Events of this simulation in flow fidelity that were carried out again packet by packet: all "
    "their time in flows over that in packets, less one; ± is the 95 % interval. “Undecided” is an "
    "error whose interval includes the tolerance: a larger optical.replayed_share sharpens it."
)


def page_tables(results: Results) -> dict[str, list[Table]]:
    """Every table that the results can fill, by the section it belongs to."""
    if results.sweep is not None:
        swept = sweep_tables(results.sweep)
        swept["points"] += fidelity_tables(results.sweep.fidelity)
        return {"headline": [], **swept}
    found: dict[str, list[Table]] = {"headline": [], "synthesis": [], "weights": []}
    for section, part, table in _tables(results):
        found.setdefault(section, []).append(marked(table, part in results.quick))
    return found


def marked(table: Table, quick: bool) -> Table:
    """The table; if it comes from a quick reproduction, its caption says so."""
    return replace(table, caption=f"{QUICK} {table.caption}".rstrip()) if quick else table


def _tables(results: Results) -> Iterator[tuple[str, str, Table]]:
    """Section, part of the reproduction, and table."""
    fabric = results.fabric
    if fabric is not None and (rows := collective_rows(fabric, results.first)):
        yield "distributions", "fabric", collectives(rows)
    if results.rows:
        yield "headline", "fabric", policy_table(results)
    if fabric is not None:
        for made in fidelity_tables(fabric.fidelity):
            yield "headline", "", made
    if results.beyond:
        yield "headline", "beyond", tables.beyond(results.beyond["rows"])
    if results.ladder:
        yield "headline", "ladder", letter_tables.ladder(results.ladder)
    if results.readings:
        yield "headline", "readings", letter_tables.readings(results.readings)
        yield "headline", "readings", letter_tables.reading_numbers(results.readings)
    if results.synthesis:
        yield "synthesis", "synthesis", _synthesis_table(results.synthesis)
    if results.ablations:
        yield "synthesis", "", synthesis_tables.ablations(results.ablations, ABLATIONS)
    if results.weights:
        yield "weights", "weights", tables.weights(results.weights)


def policy_table(results: Results) -> Table:
    """Policies side by side, a single run beside the reference of its rewards."""
    rows, several = list(results.rows), len(results.rows) > 1
    if not several and (reference := reference_row(results)):
        rows.append(reference | {"policy": "All-wired, reference"})
    published = any(row.get("paper_completion_ms") is not None for row in rows)
    keys = [*tables.policy_keys(published, published), "makespan_ms", "exposed_ms"]
    keys += [metric.key for metric in more_energy(results.rows)]
    made = tables.policies(rows, _window(results), judged=several)
    # Beside published columns there is no room on paper; the shares have a picture of their own.
    return made.only(*keys) if published else made.only(*keys, "thz_share")


def _window(results: Results) -> str:
    if results.fabric is None:
        return ""
    numbers, seeds = results.fabric.iterations["iteration"].to_numpy(), len(results.fabric.seeds)
    first, last = max(results.first, int(numbers.min())) + 1, int(numbers.max()) + 1
    one = first == last
    text = f"Iteration {last}" if one else f"Per-iteration means over iterations {first}–{last}"
    spread = f"; ± is the 95 % interval over {seeds} seeds." if seeds > 1 else ", 1 seed."
    return text + spread


def _synthesis_table(rows: list[Row]) -> Table:
    largest = max(row["racks"] for row in rows)
    shown = [r for r in rows if r.get("paper_ms") is not None or r["racks"] == largest]
    caption = f"Published settings, and all methods at {largest} racks."
    return synthesis_tables.synthesis(shown, caption=caption)


def collectives(rows: Iterable[Row]) -> Table:
    """How long every collective type takes and how fast that is, by policy."""
    columns = (
        Column("Collective", left=True),
        Column("Policy", left=True),
        Column("Events"),
        Column("Completion", "ms", show=digits(4)),
        Column("algbw", "GB/s", show=digits(3)),
        Column("busbw", "GB/s", show=digits(3)),
    )
    keys = ("completion_ms", "algbw_gb_s", "busbw_gb_s")
    body: list[list[Value]] = [
        [
            kind_look(row["kind"]).label,
            policy_name(row),
            row["events"],
            *(mean(row, key) for key in keys),
        ]
        for row in rows
    ]
    return Table("Bandwidth by collective", columns, body, BANDWIDTH)


def fidelity_tables(found: Certificate | None) -> list[Table]:
    """How near flows are to packets, a row per collective type, where it is worst; or nothing."""
    if found is None or not found.rows:
        return []
    several = len(found.rows) > len(found.worst())
    columns = (
        Column("Collective", left=True),
        Column("Where it is worst", left=True),
        Column("Events replayed"),
        Column("Error", "%", show=with_sign(2)),
        Column("Tolerance", "%", show="{:g}".format),
        Column("Verdict", left=True),
    )
    table = Table("Flow fidelity", columns, list(map(_fidelity_row, found.worst())), FIDELITY)
    return [table if several else table.without([1])]


def _fidelity_row(row: Certified) -> list[Value]:
    kind, events, error, ci95 = row.found
    width = None if ci95 is None else 100 * ci95
    off = Interval(100 * error, width)
    return [kind_look(kind).label, row.where, events, off, 100 * row.tolerance, row.verdict]


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
            _bound("≥" if row["at_least"] else "≤", row["budget"]),
            _bound("", row.get("second_edition")),
        ]
        for row in measured.get("budgets", ())
        if row["today"] is not None
    ]
    return Table("Speed", columns, body)


def _bound(sign: str, value: float | None) -> str | None:
    return None if value is None else f"{sign} {value:g}".strip()
