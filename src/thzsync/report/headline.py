"""Which tables stand on the report's page, and in which of its sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from thzsync.display import Table
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.report.curves import collective_rows
from thzsync.report.fidelity_table import fidelity_tables
from thzsync.report.source import Results, Row
from thzsync.report.sweep_tables import sweep_tables
from thzsync.report.tables import collectives, marked

BANDWIDTH: Final = (
    "Bandwidths as nccl-tests defines them: algbw is all bytes over all time of a collective "
    "type, busbw that times what the busiest rack must send of every byte."
)


def page_tables(results: Results) -> dict[str, list[Table]]:
    """Every table that the results can fill, by the section it belongs to."""
    if results.sweep is not None:
        return {"headline": [], **sweep_tables(results.sweep)}
    found: dict[str, list[Table]] = {"headline": [], "synthesis": [], "weights": []}
    if results.fabric is not None and (rows := collective_rows(results.fabric, results.first)):
        made = collectives(rows, BANDWIDTH)
        found["distributions"] = [marked(made, "fabric" in results.quick)]
    if results.rows:
        found["headline"].append(marked(policy_table(results), "fabric" in results.quick))
    if results.fabric is not None:
        found["headline"] += fidelity_tables(results.fabric.fidelity)
    if results.beyond:
        made = tables.beyond(results.beyond["rows"])
        found["headline"].append(marked(made, "beyond" in results.quick))
    if results.ladder:
        made = letter_tables.ladder(results.ladder)
        found["headline"].append(marked(made, "ladder" in results.quick))
    if results.readings:
        quick = "readings" in results.quick
        for made in (
            letter_tables.readings(results.readings),
            letter_tables.reading_numbers(results.readings),
        ):
            found["headline"].append(marked(made, quick))
    if results.synthesis:
        made = _synthesis_table(results.synthesis)
        found["synthesis"].append(marked(made, "synthesis" in results.quick))
    if results.ablations:
        caption = "How much slower the proposed synthesis becomes without one of its parts."
        found["synthesis"].append(synthesis_tables.ablations(results.ablations, caption))
    if results.weights:
        made = tables.weights(results.weights)
        found["weights"].append(marked(made, "weights" in results.quick))
    return found


def policy_table(results: Results) -> Table:
    """Policies side by side; published columns stand only where something was published."""
    published = any(row.get("paper_completion_ms") is not None for row in results.rows)
    keys = [*tables.policy_keys(published, published), "makespan_ms", "exposed_ms"]
    made = tables.policies(results.rows, _window(results))
    # Beside published columns there is no room on paper; the shares have a picture of their own.
    return made.only(*keys) if published else made.only(*keys, "thz_share")


def _synthesis_table(rows: Sequence[Row]) -> Table:
    largest = max(row["racks"] for row in rows)
    shown = [r for r in rows if r.get("paper_ms") is not None or r["racks"] == largest]
    caption = f"Published settings, and all methods at {largest} racks."
    return synthesis_tables.synthesis(shown, caption=caption)


def _window(results: Results) -> str:
    comparison = results.fabric
    if comparison is None:
        return ""
    numbers = comparison.iterations["iteration"].to_numpy()
    first, last = max(results.first, int(numbers.min())) + 1, int(numbers.max()) + 1
    seeds = len(comparison.seeds)
    text = f"Per-iteration means over iterations {first}–{last}"
    if first == last:
        text = f"Iteration {last}"
    return (
        f"{text}; ± is the 95 % interval over {seeds} seeds." if seeds > 1 else f"{text}, 1 seed."
    )
