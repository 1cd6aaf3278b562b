"""``thzsync bench``: measured speed beside the budgets."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from thzsync.cli.output import JsonOption, emit, note, notes, progress, show, table


class Subject(StrEnum):
    """What is measured."""

    OPTICAL = "optical"
    SYNTHESIS = "synthesis"
    DECISION = "decision"
    ITERATION = "iteration"
    CONTACT = "contact"
    FIGURES = "figures"
    PEERS = "peers"
    ALL = "all"


MEASURES: Final = {
    Subject.OPTICAL: "thzsync.optical.bench",
    Subject.SYNTHESIS: "thzsync.experiments.bench_synthesis",
    Subject.DECISION: "thzsync.experiments.bench_decision",
    Subject.ITERATION: "thzsync.experiments.bench_iteration",
    Subject.CONTACT: "thzsync.experiments.bench_contact",
    Subject.FIGURES: "thzsync.experiments.bench_figures",
    Subject.PEERS: "thzsync.optical.peers",
}
LONG: Final = (Subject.ITERATION, Subject.CONTACT, Subject.FIGURES)
"""What has a quick form, since it takes minutes."""
VERDICTS: Final = {
    (True, True): "holds",
    (True, None): "holds",
    (True, False): "holds here, missed at pace 1",
    (False, True): "holds at pace 1",
    (False, None): "missed",
    (False, False): "missed",
    (None, None): "not measured",
}
"""By whether today's figure holds, and whether it would at pace 1."""


def bench(
    subject: Annotated[Subject, typer.Argument(help="What to measure.")] = Subject.ALL,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Leave out large jobs, figures, the empty kernel cache."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure speed against the budgets, preferably on an idle machine.

    All together takes a quarter of an hour, with --quick about a minute.

    How fast the machine is at that time is measured, too: pace 1 is the machine of the budgets.
    """
    from thzsync.feasibility.pace import Paces

    paces = Paces()
    subjects = list(MEASURES) if subject is Subject.ALL else [subject]
    measured: dict[str, Any] = {}
    with progress("bench", len(subjects)) as advance:
        for one in subjects:
            advance(0, f"bench {one}")
            with paces.around(one.value):
                measured[one.value] = _measure(one, quick, advance)
            advance()
    if quick and subject is Subject.FIGURES:
        note("bench figures: nothing was measured: --quick leaves figures out; run it without")
        if as_json:
            emit(measured[subject.value], as_json, "")
        return
    measured["pace"] = paces.of
    if subject is not Subject.ALL:
        emit(measured[subject.value], as_json, lambda: _figures(measured))
        return
    from thzsync.experiments.budgets import judged

    budgets = judged(measured)
    emit({**measured, "budgets": budgets}, as_json, lambda: _figures(measured))
    if not as_json:
        show(_budgets(budgets))


def _measure(subject: Subject, quick: bool, advance: Callable[..., None]) -> Any:
    module = import_module(MEASURES[subject])
    if subject not in LONG:
        return module.measure()

    def tell(what: str) -> None:
        line = f"bench {subject}: {what}"
        advance(0, line)
        if not notes().is_terminal:
            note(line)

    return module.measure(quick, tell)


def _figures(measured: dict[str, Any]) -> Any:
    rows = [(name, *row) for name, figures in measured.items() for row in flatten(figures)]
    return table("Speed", ("bench", "figure", "value"), rows)


def _budgets(budgets: list[dict[str, Any]]) -> Any:
    rows = [
        (
            row["what"],
            row["unit"],
            row["first_edition"],
            f"{'≥' if row['at_least'] else '≤'} {row['budget']:g}",
            row["today"],
            row["at_pace"],
            VERDICTS[row["holds"], row["holds_at_pace"]],
        )
        for row in budgets
    ]
    columns = ("what", "unit", "first edition", "budget", "today", "at pace 1", "verdict")
    return table("Budgets", columns, rows)


def flatten(figures: dict[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Nested figures as rows of dotted name and value."""
    rows: list[tuple[str, object]] = []
    for name, value in figures.items():
        if isinstance(value, dict):
            rows += flatten(value, f"{prefix}{name}.")
        else:
            rows.append((prefix + name, value))
    return rows
