"""What `thzsync ask` answered, lowered to what the page shows: words, bars and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thzsync.answer.question import TITLES
from thzsync.answer.text import candidates_table, checks_table, details, headline, next_step
from thzsync.assumptions import assumptions
from thzsync.display import Table, counted, quantity

if TYPE_CHECKING:
    from thzsync.answer import Answer


class Bar(NamedTuple):
    """A bar: whose it is, what it says, and how long its parts are."""

    name: str
    text: str
    lengths: list[float]
    """In per cent of the longest bar, once they are in a panel."""


class Panel(NamedTuple):
    """A panel of bars, and the same in words for a reader who does not see them."""

    title: str
    note: str
    parts: list[tuple[str, str]]
    """Colour and name of every part of a bar."""
    bars: list[Bar]
    words: str


class Asked(NamedTuple):
    """An answer as the page shows it."""

    name: str
    facts: list[str]
    headline: str
    paragraph: str
    panels: list[Panel]
    tables: list[Table]
    assumed: dict[str, str]
    next_step: str


def view(answer: Answer) -> Asked:
    """An answer as the page shows it."""
    floor = answer.scenario.floor
    return Asked(
        answer.scenario.name,
        [
            f"scenario “{answer.scenario.name}”",
            f"{floor.racks} racks on {counted(floor.rings, 'ring')}",
            counted(answer.iterations, "iteration"),
            counted(len(answer.seeds), "seed"),
        ],
        headline(answer),
        details(answer),
        [_times(answer), _energies(answer)],
        [candidates_table(answer), checks_table(answer)],
        assumptions(answer.scenario),
        next_step(answer),
    )


def _times(answer: Answer) -> Panel:
    bars = [
        Bar(
            TITLES[row["candidate"]],
            f"{quantity(row['makespan_ms'], 'ms')}, exposed {quantity(row['exposed_ms'], 'ms')}",
            [row["makespan_ms"] - row["exposed_ms"], row["exposed_ms"]],
        )
        for row in answer.candidates
    ]
    parts = [("var(--fibre)", "compute"), ("var(--s5)", "exposed communication")]
    return _panel("Iteration time", "shorter is better", parts, bars)


def _energies(answer: Answer) -> Panel:
    most = max(row["energy_j"] for row in answer.candidates)
    bars = [
        Bar(
            TITLES[row["candidate"]],
            quantity(row["energy_j"], "J", 3, most),
            [row["energy_j"]],
        )
        for row in answer.candidates
    ]
    return _panel("Energy", "less is better", [("var(--s3)", "transmission")], bars)


def _panel(title: str, note: str, parts: list[tuple[str, str]], bars: list[Bar]) -> Panel:
    longest = max(sum(bar.lengths) for bar in bars) or 1.0
    scaled = [bar._replace(lengths=[100 * part / longest for part in bar.lengths]) for bar in bars]
    told = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return Panel(title, note, parts, scaled, f"{title}. {told}.")
