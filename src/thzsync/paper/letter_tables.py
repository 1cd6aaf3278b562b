"""Tables of the faithful implementation: the ablation of its departures, and interpretations."""

from __future__ import annotations

from functools import partial
from typing import Any

from thzsync.display import Column, Table, signed
from thzsync.display.columns import Row, digits, felt_columns, mean, published
from thzsync.display.table import Interval
from thzsync.paper.deviation import Columns, policy_label, tabulate
from thzsync.paper.tables import policies


def ladder(document: Row) -> Table:
    """Every learner from the faithful implementation to ours, with the change of every step."""
    lowest = document["rungs"][0]

    def change(key: str, row: Row) -> Interval | None:
        return None if row["rung"] == lowest else mean(row, f"diff_{key}")

    columns: Columns = [
        (
            Column("Policy", left=True),
            lambda row: policy_label(row) if row["rung"] == lowest else "",
        ),
        Column("Step", key="rung", left=True),
        Column("Completion", "ms", "completion_ms", show=digits(4)),
        (Column("change", "ms", show=signed, priority=4), partial(change, "completion_ms")),
        Column("Transmission", "J", "energy_j", show=digits(4), priority=1),
        Column("Reward", key="reward", show=digits(3)),
        (Column("change", show=signed, priority=5), partial(change, "reward")),
        Column("first iteration", "ms", "first_completion_ms", show=digits(4), priority=3),
        Column("settled after", "iterations", "settled_after", show=digits(2), priority=2),
        *felt_columns(),
    ]
    seeds, first = len(document["seeds"]), document["first_iteration"] + 1
    spread = f", ± 95 %, {seeds} paired seeds" if seeds > 1 else ", 1 seed"
    caption = (
        f"Means from iteration {first} on{spread}. A change is against the step "
        "before. Settled: within 5 % of the last five iterations' reward."
    )
    return tabulate("From the faithful implementation to ours", document["rows"], columns, caption)


def letter(document: Row) -> Table:
    """The learners as the paper describes them, beside what it reports."""
    lowest = [row for row in document["rows"] if row["rung"] == document["rungs"][0]]
    seeds = len(document["seeds"])
    spread = f"± 95 % over {seeds} seeds" if seeds > 1 else "1 seed"
    caption = f"The paper's coordinator on our floor, {spread}."
    return policies(lowest, caption, "Faithful implementation", "Faithful implementation")


def readings(document: Row) -> Table:
    """How near sets of interpretations come to all published numbers at once."""
    columns: Columns = [
        (
            Column("Interpretations other than our defaults", left=True),
            lambda row: "; ".join(row["readings"]) or "none",
        ),
        (Column("fit", left=True), lambda row: f"{row['within']} of {row['count']}"),
        Column("mean deviation", "%", "deviation_pct", show=digits(3)),
    ]
    caption = (
        f"Our defaults, and of {document['static_sets']} sets the nearest on static policies and "
        "single collectives, on seeds that no figure uses. Fit: within 15 %, an ablation with all "
        "four increases in the published range."
    )
    return tabulate("Interpretations and the published numbers", document["rows"], columns, caption)


def reading_numbers(document: Row) -> Table:
    """Every published number under our defaults and under the nearest interpretations."""
    columns: Columns = [
        Column("Figure", key="figure", left=True),
        Column("Series", key="series", left=True),
        Column("Setting", key="setting", left=True),
        Column("Metric", key="metric", left=True),
        (Column("paper"), lambda row: _several(row["paper"])),
        (Column("defaults"), lambda row: _several(row["ours"])),
        (Column("fits", left=True), lambda row: "yes" if row["ours_fits"] else "no"),
        (Column("nearest set"), lambda row: _several(row["nearest"])),
        (Column("fits", left=True), lambda row: "yes" if row["nearest_fits"] else "no"),
    ]
    caption = "Times in ms, energies in J, increases in % (no channel, equal power: four settings)."
    return tabulate("Every published number", document["numbers"], columns, caption)


def _several(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(published(3), value))
    return published(4)(value)
