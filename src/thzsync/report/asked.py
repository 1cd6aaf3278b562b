"""What `thzsync ask` answered, lowered to what the page shows: words, bars and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from thzsync.answer import Answer
from thzsync.answer.question import TITLES, Row
from thzsync.answer.text import candidates_table, checks_table, details, headline, next_step
from thzsync.assumptions import assumptions
from thzsync.display import quantity
from thzsync.display.metrics import ENERGY, STATIC, WALL, Metric, more_energy


class Bar(NamedTuple):
    """A bar: whose it is, what it says, and the lengths of its parts [% of the longest bar]."""

    name: str
    text: str
    lengths: list[float]


class Panel(NamedTuple):
    """A panel of bars, with colour and name of every part of a bar."""

    title: str
    note: str
    parts: list[tuple[str, str]]
    bars: list[Bar]


def view(answer: Answer) -> dict[str, Any]:
    """An answer as the page shows it."""
    return {
        "name": answer.scenario.name,
        "headline": headline(answer),
        "paragraph": details(answer),
        "panels": panels(answer),
        "tables": [candidates_table(answer), checks_table(answer)],
        "assumed": assumptions(answer.scenario),
        "next_step": next_step(answer),
    }


def panels(answer: Answer) -> list[Panel]:
    """Iteration time and energy of every candidate as bars."""
    rows = answer.candidates
    longest_ms = max(row["makespan_ms"] for row in rows) or 1.0
    times = []
    for row in rows:
        name, whole, exposed = TITLES[row["candidate"]], row["makespan_ms"], row["exposed_ms"]
        told = f"{quantity(whole, 'ms')}, exposed {quantity(exposed, 'ms')}"
        lengths = [100 * part / longest_ms for part in (whole - exposed, exposed)]
        times.append(Bar(name, told, lengths))
    colours = [("var(--fibre)", "compute"), ("var(--s5)", "exposed communication")]
    return [
        Panel("Iteration time", "shorter is better", colours, times),
        _energy(rows, ("transmission", ENERGY)),
        *([_energy(rows, ("wall plug", WALL), ("static", STATIC))] if more_energy(rows) else []),
    ]


def _energy(rows: Sequence[Row], *parts: tuple[str, Metric]) -> Panel:
    """Bars of the energy of every candidate, in parts."""
    spent = [[row[metric.key] for _, metric in parts] for row in rows]
    most_j = max(map(sum, spent)) or 1.0
    bars = [
        Bar(
            TITLES[row["candidate"]],
            " + ".join(quantity(part, "J", 3, most_j) for part in own),
            [100 * part / most_j for part in own],
        )
        for row, own in zip(rows, spent, strict=True)
    ]
    names = [name for name, _ in parts]
    colours = list(zip(("var(--s3)", "var(--s5)"), names, strict=False))
    return Panel(f"Energy: {' and '.join(names)}", "less is better", colours, bars)
