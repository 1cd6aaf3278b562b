"""What every command shares: results on stdout, everything else on stderr."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thzsync.errors import ThzSyncError
from thzsync.files import dump_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from thzsync.scenario import Scenario

ScenarioArgument = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML) or a preset's name.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key, such as thz.subbands=8; repeatable."
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Replace another record in --out; never what is not ours."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of every random stream.")]

PIPE_WIDTH = 400
PATIENCE_S = 1.0
"""How long a command may work before it shows a progress bar [s]."""


def load_scenario(name: str, assignments: Sequence[str] | None = None) -> Scenario:
    """The scenario that a command's argument names, with the changes of its ``--set`` options."""
    from thzsync.scenario import Scenario

    return change_scenario(Scenario.load(name), assignments)


def change_scenario(scenario: Scenario, assignments: Sequence[str] | None) -> Scenario:
    """The scenario with the changes of ``--set`` options."""
    from thzsync.scenario.changes import changed, parse_changes

    return changed(scenario, parse_changes(assignments), "--set") if assignments else scenario


def results() -> Console:
    """Where results go. Rich leaves colour out when NO_COLOR is set or stdout is no terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH  # a file has no edge to wrap at
    return console


def notes() -> Console:
    """Where everything that is not a result goes: stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def note(text: str) -> None:
    """One line for people, on stderr, as it is: no markup, no wrapping."""
    notes().print(text, markup=False, soft_wrap=True)


def emit(
    document: object, as_json: bool, table: RenderableType | Callable[[], RenderableType]
) -> None:
    """Print ``document`` as JSON, or ``table`` (or what it returns) for people."""
    if as_json:
        typer.echo(dump_json(document))
        return
    show(table() if callable(table) else table)


def show(table: RenderableType) -> None:
    """Print a result for people, never cut off at the terminal's width."""
    results().print(table, crop=False)


def with_interval(row: Mapping[str, Any], metric: str, form: str = ".4g") -> str:
    """A mean with its 95 % half-width, where there is one."""
    width = row[f"ci95_{metric}"]
    interval = "" if width is None or isnan(width) else f" ± {width:.2g}"
    return f"{row[metric]:{form}}{interval}"


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str | None = None
) -> Table:
    """A plain table; numbers stand on the right, and markup in cells is text."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        # Unwrapped, since Rich would fold these at the width of a narrow table.
        title=Text(title, style="bold", no_wrap=True, overflow="ignore"),
        caption=Text(caption or "", no_wrap=True, overflow="ignore"),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for position, column in enumerate(columns):
        numeric = any(isinstance(row[position], (int, float)) for row in rows)
        made.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        made.add_row(*(Text(_cell(value)) for value in row))
    return made


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """A progress bar on stderr, shown only on a terminal and only after a second of work.

    Yields ``advance(steps=1, description=None)``; without ``total`` the bar only pulses.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = notes()
    columns = (TextColumn("{task.description}"), BarColumn())
    counted = () if total is None else (MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, *counted, console=console, transient=True)
    task = bar.add_task(description, total=total)

    def advance(steps: float = 1, description: str | None = None) -> None:
        bar.update(task, advance=steps, description=description)

    patience = threading.Timer(PATIENCE_S, bar.start)
    patience.daemon = True
    if console.is_terminal:
        patience.start()
    try:
        yield advance
    finally:
        patience.cancel()
        if patience.ident is not None:
            patience.join()  # it may be starting the bar right now
        if bar.live.is_started:
            bar.stop()


def refuse_overwrite(path: str, force: bool) -> None:
    """Raise when ``path`` exists and the user did not ask to replace it."""
    from pathlib import Path

    if Path(path).exists() and not force:
        raise ThzSyncError(f"{path}: exists already; name another file, or replace it with --force")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
