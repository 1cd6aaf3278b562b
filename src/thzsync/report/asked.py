"""What `thzsync ask` answered, lowered to what the page shows: words, bars and tables."""

from __future__ import annotations

from typing import Any, NamedTuple

from thzsync.answer import Answer
from thzsync.answer.question import TITLES
from thzsync.answer.text import candidates_table, checks_table, details, headline, next_step
from thzsync.assumptions import assumptions
from thzsync.display import quantity


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
    longest_ms, most_j = (
        max(row[key] for row in rows) or 1.0 for key in ("makespan_ms", "energy_j")
    )
    times, energies = [], []
    for row in rows:
        name, whole, exposed = TITLES[row["candidate"]], row["makespan_ms"], row["exposed_ms"]
        told = f"{quantity(whole, 'ms')}, exposed {quantity(exposed, 'ms')}"
        lengths = [100 * part / longest_ms for part in (whole - exposed, exposed)]
        times.append(Bar(name, told, lengths))
        spent = quantity(row["energy_j"], "J", 3, most_j)
        energies.append(Bar(name, spent, [100 * row["energy_j"] / most_j]))
    colours = [("var(--fibre)", "compute"), ("var(--s5)", "exposed communication")]
    return [
        Panel("Iteration time", "shorter is better", colours, times),
        Panel("Energy", "less is better", [("var(--s3)", "transmission")], energies),
    ]
