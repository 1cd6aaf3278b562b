"""``thzsync audit``: re-check a recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from thzsync.cli.output import JsonOption, emit, progress, results, table
from thzsync.errors import printable

if TYPE_CHECKING:
    from rich.table import Table

    from thzsync.simulation.audit import Audit

PRINTED_VIOLATIONS: Final = 20


def audit(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder that `thzsync run --out` wrote.")
    ],
    json: JsonOption = False,
) -> None:
    """Re-check a recorded run from its records alone.

    Exits with 0 if every fact holds and with 1 if one is broken.
    """
    from thzsync.simulation.audit import audit as check
    from thzsync.simulation.records import Run

    with progress(f"audit {folder}") as _:
        verdict = check(Run.load(folder))
    emit(verdict.document(), json, lambda: _checks(folder, verdict))
    if not json:
        _print_violations(verdict)
    if not verdict.ok:
        raise typer.Exit(1)


def _checks(folder: str, verdict: Audit) -> Table:
    broken = verdict.broken
    rows = [
        (name, facts, "broken" if name in broken else "ok" if facts else "-")
        for name, facts in verdict.checks.items()
    ]
    caption = f"{verdict.facts} facts, {'all hold' if verdict.ok else 'not all hold'}"
    return table(f"Audit of {folder}", ("check", "facts", "verdict"), rows, caption)


def _print_violations(verdict: Audit) -> None:
    """The first violations, one line each."""
    console = results()
    for found in verdict.violations[:PRINTED_VIOLATIONS]:
        line = printable(f"{found.check}: {found.place}: {found.message}")
        console.print(line, markup=False, soft_wrap=True)
    rest = len(verdict.violations) - PRINTED_VIOLATIONS
    if rest > 0:
        console.print(f"and {rest} more; --json lists them all", markup=False)
