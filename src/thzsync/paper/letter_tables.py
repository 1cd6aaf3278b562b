"""Tables of the paper to the letter: its learners, what departs from them, and other readings."""

from __future__ import annotations

from typing import Any

from thzsync.display import Column, Table, signed
from thzsync.display.columns import (
    Row,
    digits,
    felt,
    felt_columns,
    mean,
    published,
)
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.table import Value
from thzsync.paper.tables import policies


def ladder(document: Row) -> Table:
    """Every learner from the paper's letter to ours; a change is paired with the rung below."""
    columns = (
        Column("Policy", left=True),
        Column("Rung", left=True),
        Column("Completion", "ms", show=digits(4)),
        Column("change", "ms", show=signed, priority=4),
        Column("Energy", "J", show=digits(4), priority=1),
        Column("Reward", show=digits(3)),
        Column("change", show=signed, priority=5),
        Column("first iteration", "ms", show=digits(4), priority=3),
        Column("settled after", "iterations", show=digits(2), priority=2),
        *felt_columns(),
    )
    seeds, first = len(document["seeds"]), document["first_iteration"] + 1
    spread = f", ± 95 %, {seeds} paired seeds" if seeds > 1 else ", 1 seed"
    caption = (
        f"Means from iteration {first} on{spread}. A change is against the rung "
        "before. Settled: within 5 % of the last five iterations' reward."
    )
    body = [_rung(row, row["rung"] == document["rungs"][0]) for row in document["rows"]]
    return Table("From the paper's letter to ours", columns, body, caption)


def _rung(row: Row, lowest: bool) -> list[Value]:
    return [
        label(POLICY_LABELS, row["policy"]) if lowest else "",
        row["rung"],
        mean(row, "completion_ms"),
        None if lowest else mean(row, "diff_completion_ms"),
        mean(row, "energy_j"),
        mean(row, "reward"),
        None if lowest else mean(row, "diff_reward"),
        mean(row, "first_completion_ms"),
        mean(row, "settled_after"),
        *felt(row),
    ]


def letter(document: Row) -> Table:
    """The learners as the paper describes them, beside what it reports."""
    lowest = [row for row in document["rows"] if row["rung"] == document["rungs"][0]]
    seeds = len(document["seeds"])
    spread = f"± 95 % over {seeds} seeds" if seeds > 1 else "1 seed"
    caption = f"The paper's coordinator on our floor, {spread}."
    return policies(lowest, caption, "To the letter", "To the letter")


def readings(document: Row) -> Table:
    """How near sets of readings come to all published numbers at once."""
    columns = (
        Column("Readings other than our defaults", left=True),
        Column("fit", left=True),
        Column("mean deviation", "%", show=digits(3)),
    )
    body: list[list[Value]] = [
        [
            "; ".join(row["readings"]) or "none",
            f"{row['within']} of {row['count']}",
            row["deviation_pct"],
        ]
        for row in document["rows"]
    ]
    caption = (
        f"Our defaults, and of {document['static_sets']} sets the nearest on static policies and "
        "single collectives, on seeds that no figure uses. Fit: within 15 %, an ablation with all "
        "four increases in the published range."
    )
    return Table("Readings and the published numbers", columns, body, caption)


def reading_numbers(document: Row) -> Table:
    """Every published number under our defaults and under the nearest readings."""
    columns = (
        Column("Figure", left=True),
        Column("Series", left=True),
        Column("Setting", left=True),
        Column("Metric", left=True),
        Column("paper"),
        Column("defaults"),
        Column("fits", left=True),
        Column("nearest set"),
        Column("fits", left=True),
    )
    body: list[list[Value]] = [
        [
            *(row[key] for key in ("figure", "series", "setting", "metric")),
            _several(row["paper"], 4),
            *_judged(row, "ours"),
            *_judged(row, "nearest"),
        ]
        for row in document["numbers"]
    ]
    caption = "Times in ms, energies in J, increases in % (no channel, equal power: four settings)."
    return Table("Every published number", columns, body, caption)


def _judged(row: Row, name: str) -> tuple[str, str]:
    return _several(row[name], 4), "yes" if row[f"{name}_fits"] else "no"


def _several(value: Any, count: int) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(published(count - 1)(x) for x in value)
    return published(count)(value)
