"""What every command shares: results on stdout, everything else on stderr."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

import thzsync
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.table import Column, Interval, Table
from thzsync.display.terminal import TerminalTable
from thzsync.errors import ThzSyncError, printable
from thzsync.files import dump_json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from thzsync.scenario import Scenario

PRESETS = ", ".join(
    sorted(
        file.stem for file in (Path(thzsync.__path__[0]) / "scenario" / "presets").glob("*.toml")
    )
)
"""Read from the folder, since help should not wait for the models to be imported."""
ScenarioArgument = Annotated[
    str, Argument(metavar="SCENARIO", help=f"A scenario file (TOML) or a preset: {PRESETS}.")
]
SetOption = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the scenario, such as thz.subbands=8. Repeatable.",
    ),
]
PluginOption = Annotated[
    list[str] | None,
    Option(
        "--plugin",
        metavar="MODULE",
        help="Import a plug-in, such as my_lab.methods or FOLDER/my_lab.methods. Repeatable.",
    ),
]
PipelinedOption = Annotated[
    bool, Option("--pipelined", help="Use the pipelined mechanisms of the preset beyond.")
]
ForceOption = Annotated[
    bool,
    Option("--force", help="Replace an earlier result in --out. Other files stay."),
]
JsonOption = Annotated[
    bool, Option("--json", help="Print the result as one JSON document on stdout.")
]
SeedOption = Annotated[int, Option(min=0, help="Seed of all random numbers.")]
IterationsOption = Annotated[int, Option(min=1, help="Training iterations to simulate.")]
OutOption = Annotated[str | None, Option(metavar="DIR", help="Folder for the record.")]
WorkersOption = Annotated[
    int | None, Option(min=1, help="Number of processes. Default: one per core.")
]
SchedulerOption = Annotated[
    str | None, Option(metavar="ADDRESS", help="Address of a Dask cluster for the runs.")
]
POLICIES_HELP = "Names separated by commas, or all. The first is the reference."
SEEDS_HELP = "Number of paired realisations (seeds 0 to N-1)."
FIRST_HELP = "First iteration (from 0) that the means include."

PIPE_WIDTH = 400
PATIENCE_S = 1.0
"""How long a command may work before it shows a progress bar [s]."""


def load_scenario(
    name: str,
    assignments: Sequence[str] | None = None,
    pipelined: bool = False,
    plugin: Sequence[str] | None = None,
) -> Scenario:
    """The scenario that a command names, as its options change it, if it can be run.

    Remarks go to stderr.
    """
    from thzsync.scenario import Scenario

    return change_scenario(Scenario.load(name, plugin or ()), assignments, name, pipelined)


def load_plugins(names: Sequence[str] | None) -> None:
    """Import the plug-ins that a command names which takes no scenario."""
    from thzsync import plugins

    plugins.load(names or (), "--plugin")


def change_scenario(
    scenario: Scenario,
    assignments: Sequence[str] | None,
    source: str = "scenario",
    pipelined: bool = False,
) -> Scenario:
    """The scenario with pipelined mechanisms and ``--set`` changes, if it can be run."""
    from thzsync.feasibility import check_scenario
    from thzsync.scenario.changes import changed, parse_changes

    if pipelined:
        from thzsync.answer.question import pipelined as with_pipelining

        scenario = with_pipelining(scenario)
    if assignments:
        scenario = changed(scenario, parse_changes(assignments), "--set")
    for remark in check_scenario(scenario, source):
        note(f"thzsync: warning: {remark}")
    return scenario


def policies_named(text: str) -> list[str]:
    """The policies of an option; all where it says so."""
    from thzsync.coordinator import policy_names

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ThzSyncError(f"--policies: found {text!r}; name a policy, or all")
    return policy_names() if names == ["all"] else names


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
    notes().print(printable(text), markup=False, soft_wrap=True)


def prepare_kernels(workers: int | None = None) -> None:
    """Have kernels compiled by all cores at once, if this is their first use."""
    from thzsync.cli.first_use import prepare

    prepare(workers)


def emit(
    document: object, as_json: bool, table: RenderableType | Callable[[], RenderableType]
) -> None:
    """Print ``document`` as JSON, or ``table`` (or what it returns) for people."""
    if as_json:
        typer.echo(dump_json(document))
    else:
        show(table() if callable(table) else table)


def emit_lines(document: object, as_json: bool, lines: Iterable[str]) -> None:
    """Print ``document`` as JSON, or say what was done, on stderr."""
    if as_json:
        typer.echo(dump_json(document))
        return
    for line in lines:
        note(line)


def show(table: RenderableType) -> None:
    """Print a result for people, never cut off at the terminal's width."""
    results().print(table, crop=False)


def tell(sentence: str) -> None:
    """Print a result in words; lines break between words."""
    results().print(printable(sentence), markup=False)


def against(policy: str) -> str:
    """The heading of paired differences to a policy."""
    return f"against {label(POLICY_LABELS, policy)}"


def table(
    title: str,
    columns: Sequence[str | Column],
    rows: Sequence[Sequence[Any]],
    caption: str | None = None,
    first_to_go: Sequence[str] = (),
) -> TerminalTable:
    """A plain table; numbers stand on the right, and markup in cells is text.

    On a narrow terminal the columns of ``first_to_go`` are left out first, then the last ones;
    the first two always stay.
    """
    described = []
    for place, name in enumerate(columns):
        if isinstance(name, Column):
            described.append(name)
            continue
        numeric = any(isinstance(row[place], (int, float, Interval)) for row in rows)
        priority = place if place > 1 else 0
        if name in first_to_go:
            priority = 1000 - first_to_go.index(name)
        described.append(Column(name, left=not numeric, priority=priority))
    return TerminalTable(Table(title, tuple(described), rows, caption or ""))


@contextmanager
def progress(
    description: str, total: int | None = None, counted: bool = True
) -> Iterator[Callable[..., None]]:
    """A progress bar on stderr, shown only on a terminal and only after a second of work.

    Yields ``advance(steps=1, description=None)``; without ``total`` the bar only pulses, and if it
    is not ``counted``, the description says how far things are.
    """
    from rich import progress as bars

    console = notes()
    columns = (bars.TextColumn("{task.description}", markup=False), bars.BarColumn())
    counts = (bars.MofNCompleteColumn(), bars.TimeRemainingColumn()) if counted and total else ()
    bar = bars.Progress(*columns, *counts, console=console, transient=True)
    task = bar.add_task(printable(description), total=total)

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
