"""``thzsync bench``: measured speed beside the budgets."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from thzsync.cli.output import JsonOption, emit, progress, table


class Subject(StrEnum):
    """What is measured."""

    OPTICAL = "optical"
    SYNTHESIS = "synthesis"
    DECISION = "decision"
    ALL = "all"


MEASURES: Final = {
    Subject.OPTICAL: "thzsync.optical.bench",
    Subject.SYNTHESIS: "thzsync.experiments.bench_synthesis",
    Subject.DECISION: "thzsync.experiments.bench_decision",
}


def bench(
    subject: Annotated[Subject, typer.Argument(help="What to measure.")] = Subject.ALL,
    as_json: JsonOption = False,
) -> None:
    """Measure speed against the budgets."""
    subjects = list(MEASURES) if subject is Subject.ALL else [subject]
    measured: dict[str, Any] = {}
    with progress("bench", len(subjects)) as advance:
        for one in subjects:
            advance(0, f"bench {one}")
            measured[one.value] = import_module(MEASURES[one]).measure()
            advance()
    document = measured if subject is Subject.ALL else measured[subject.value]
    rows = [(name, *row) for name, figures in measured.items() for row in flatten(figures)]
    emit(document, as_json, lambda: table("Speed", ("bench", "figure", "value"), rows))


def flatten(figures: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Nested figures as rows of dotted name and value."""
    rows: list[tuple[str, object]] = []
    for name, value in figures.items():
        if isinstance(value, dict):
            rows += flatten(value, f"{prefix}{name}.")
        else:
            rows.append((prefix + name, value))
    return rows
