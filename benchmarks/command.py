"""The body of ``thzsync bench``: measure subjects, and show figures and budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from benchmarks.budgets import judged
from thzsync.cli.output import emit, note, notes, progress, show, table

MEASURES: Final = {
    "optical": "benchmarks.optical",
    "synthesis": "benchmarks.synthesis",
    "decision": "benchmarks.decision",
    "iteration": "benchmarks.iteration",
    "contact": "benchmarks.contact",
    "figures": "benchmarks.figures",
    "peers": "benchmarks.peers",
}
LONG: Final = ("iteration", "contact", "figures")
"""What has a quick form, since it takes minutes."""
VERDICTS: Final = {True: "holds", False: "missed", None: "not measured"}


def run(subject: str, quick: bool, as_json: bool) -> None:
    """Measure one subject, or ``all`` of them with their budgets."""
    measured = _measured(list(MEASURES) if subject == "all" else [subject], quick)
    if quick and subject == "figures":
        note("bench figures: nothing was measured: --quick leaves figures out; run it without")
        if as_json:
            emit(measured[subject], as_json, "")
        return
    if subject != "all":
        emit(measured[subject], as_json, lambda: _figures(measured))
        return
    budgets = judged(measured)
    emit({**measured, "budgets": budgets}, as_json, lambda: _figures(measured))
    if not as_json:
        show(_budgets(budgets))


def _measured(subjects: Sequence[str], quick: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with progress("bench", len(subjects)) as advance:
        for one in subjects:
            advance(0, f"bench {one}")
            found[one] = _measure(one, quick, advance)
            advance()
    return found


def _measure(subject: str, quick: bool, advance: Callable[..., None]) -> Any:
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
            row["second_edition"],
            f"{'≥' if row['at_least'] else '≤'} {row['budget']:g}",
            row["today"],
            VERDICTS[row["holds"]],
        )
        for row in budgets
        if row["budget"] is not None
    ]
    columns = ("what", "unit", "second edition", "budget", "today", "verdict")
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
