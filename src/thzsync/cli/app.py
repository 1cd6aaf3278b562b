"""The command table: every command group is imported only when it is called."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup

from thzsync.version import __version__


class Entry(NamedTuple):
    """Where a command lives: ``module:attribute`` in this package, an app or a function."""

    name: str
    place: str
    help: str


COMMANDS: Final = (
    Entry("ask", "ask:ask", "Answer whether a THz overlay pays for a training job."),
    Entry("run", "run:run", "Simulate training iterations under one policy."),
    Entry("compare", "compare:compare", "Compare policies in the same realisations."),
    Entry("sweep", "sweep:sweep", "Compare policies at many values of scenario keys."),
    Entry("synthesize", "synthesize:synthesize", "Schedule one collective on THz."),
    Entry("reproduce", "reproduce:reproduce_app", "Reproduce the paper's figures side by side."),
    Entry("scenario", "scenario:scenario_app", "Show, describe and start scenarios."),
    Entry("plugins", "plugins:plugins", "List what scenarios may name and where it comes from."),
    Entry("trace", "trace:trace_app", "Generate, import, show and check traces."),
    Entry("report", "report:report", "Turn a result folder into one HTML page."),
    Entry("audit", "audit:audit", "Check a recorded run from its records alone."),
    Entry("bench", "bench:bench", "Measure speed against the budgets."),
)


def load(entry: Entry) -> Any:
    """Import a command and turn it into what Typer's group can call."""
    module, _, attribute = entry.place.partition(":")
    target = getattr(import_module(f"thzsync.cli.{module}"), attribute)
    if not isinstance(target, typer.Typer):
        single = typer.Typer(add_completion=False)
        single.command(entry.name)(target)
        target = single
    command = typer.main.get_command(target)
    command.name = entry.name
    _tidy_help(command)
    return command


def _tidy_help(command: Any) -> None:
    """Give Rich paragraphs without line breaks, which it sets itself."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    _tidy_options(command.get_params(typer.Context(command, help_option_names=HELP_NAMES)))
    for nested in getattr(command, "commands", {}).values():
        _tidy_help(nested)


def _tidy_options(parameters: list[Any]) -> list[Any]:
    """Flags take no value, so help need not call them ``<bool>``; and brackets are no markup."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if getattr(parameter, "help", None):
            parameter.help = re.sub(r"(?<!\\)\[", r"\\[", parameter.help)
    return parameters


HELP_NAMES: Final = ["-h", "--help"]


class LazyGroup(TyperGroup):
    """Lists every command by its table entry, and imports the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._entries = {entry.name: entry for entry in COMMANDS}
        for entry in self._entries.values():
            self.commands[entry.name] = TyperCommand(name=entry.name, help=entry.help)

    def get_params(self, ctx: Any) -> Any:
        """The group's own options; Typer adds those for completion late."""
        return _tidy_options(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replace the listed stand-in by the real command."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in self._entries:
            command = load(self._entries[name])
        return name, command, rest


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP_NAMES},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thzsync {__version__}")
        raise typer.Exit


@app.callback()
def thzsync(
    version: Annotated[
        bool,
        Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Collectives of AI training on a data centre that joins optical fibre with a THz overlay."""
