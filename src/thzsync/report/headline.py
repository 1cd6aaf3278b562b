"""Which tables stand on the report's page, and in which of its sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from thzsync.display import Table
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.report.contest import reference_row
from thzsync.report.curves import collective_rows
from thzsync.report.fidelity_table import fidelity_tables
from thzsync.report.source import Results, Row
from thzsync.report.sweep_tables import sweep_tables
from thzsync.report.tables import collectives, marked

BANDWIDTH: Final = (
    "Bandwidths as nccl-tests defines them: algbw is all bytes over all time of a collective "
    "type, busbw that times what the busiest rack must send of every byte."
)
ABLATIONS: Final = "How much slower the proposed synthesis becomes without one of its parts."


def page_tables(results: Results) -> dict[str, list[Table]]:
    """Every table that the results can fill, by the section it belongs to."""
    if results.sweep is not None:
        return {"headline": [], **sweep_tables(results.sweep)}
    found: dict[str, list[Table]] = {"headline": [], "synthesis": [], "weights": []}
    for section, part, table in _tables(results):
        shown = marked(table, part in results.quick)
        found.setdefault(section, []).append(shown)
    return found


def _tables(results: Results) -> Iterator[tuple[str, str, Table]]:
    """Section, part of the reproduction, and table."""
    fabric = results.fabric
    if fabric is not None and (rows := collective_rows(fabric, results.first)):
        yield "distributions", "fabric", collectives(rows, BANDWIDTH)
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
    made = tables.policies(rows, _window(results), judged=several)
    # Beside published columns there is no room on paper; the shares have a picture of their own.
    return made.only(*keys) if published else made.only(*keys, "thz_share")


def _synthesis_table(rows: Sequence[Row]) -> Table:
    largest = max(row["racks"] for row in rows)
    shown = [r for r in rows if r.get("paper_ms") is not None or r["racks"] == largest]
    caption = f"Published settings, and all methods at {largest} racks."
    return synthesis_tables.synthesis(shown, caption=caption)


def _window(results: Results) -> str:
    if results.fabric is None:
        return ""
    numbers, seeds = results.fabric.iterations["iteration"].to_numpy(), len(results.fabric.seeds)
    first, last = max(results.first, int(numbers.min())) + 1, int(numbers.max()) + 1
    one = first == last
    text = f"Iteration {last}" if one else f"Per-iteration means over iterations {first}–{last}"
    spread = f"; ± is the 95 % interval over {seeds} seeds." if seeds > 1 else ", 1 seed."
    return text + spread
