"""``thzsync audit``: re-check a recorded run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from thzsync.cli.output import JsonOption, PluginOption, emit, load_plugins, progress, results
from thzsync.display.terminal import TerminalTable
from thzsync.errors import printable

if TYPE_CHECKING:
    from thzsync.auditor import Audit


def audit(
    folder: Annotated[str, Argument(metavar="DIR", help="Folder that `thzsync run --out` wrote.")],
    plugin: PluginOption = None,
    json: JsonOption = False,
) -> None:
    """Re-check a recorded run from its records alone.

    Exit status 0 means that every check passed, 1 that one failed.
    """
    from thzsync.auditor import CHECKS
    from thzsync.auditor import audit as check
    from thzsync.records.run import Run

    load_plugins(plugin)
    with progress(f"audit {folder}", len(CHECKS)) as advance:
        shown = printable(f"audit {folder}")
        verdict = check(Run.load(folder), tell=lambda done, name: advance(done, f"{shown}: {name}"))
    emit(verdict.document(), json, lambda: TerminalTable(verdict.table(f"Audit of {folder}")))
    if not json:
        _print_violations(verdict)
    if not verdict.ok:
        raise typer.Exit(1)


def _print_violations(verdict: Audit) -> None:
    """The first violations, one line each."""
    from thzsync.auditor.findings import SHOWN_VIOLATIONS

    console = results()
    for found in verdict.violations[:SHOWN_VIOLATIONS]:
        line = printable(f"{found.check}: {found.place}: {found.message}")
        console.print(line, markup=False, soft_wrap=True)
    rest = len(verdict.violations) - SHOWN_VIOLATIONS
    if rest > 0:
        console.print(f"and {rest} more; --json lists them all", markup=False)
