"""``thzsync scenario``: show, describe and start scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from thzsync.cli import output
from thzsync.errors import ThzSyncError
from thzsync.files import dump_json

if TYPE_CHECKING:
    from thzsync.scenario import Scenario

scenario_app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Show, describe and start scenarios."
)


@scenario_app.command()
def show(
    scenario: output.ScenarioArgument = "paper",
    changes: output.SetOption = None,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Print a scenario with every key resolved, as TOML that loads again."""
    loaded = output.load_scenario(scenario, changes, False, plugin)
    if as_json:
        typer.echo(dump_json(loaded.model_dump(mode="json")))
    else:
        typer.echo("".join(_facts(loaded)) + loaded.to_toml(), nl=False)


def _facts(scenario: Scenario) -> Iterator[str]:
    """What follows from the keys and decides what fibre can do, as TOML comments."""
    from thzsync.display import number
    from thzsync.network import network_of, tiers
    from thzsync.scenario import RingNetwork

    noun = scenario.floor.noun if isinstance(scenario.network, RingNetwork) else ""
    for tier in tiers(network_of(scenario)):
        place, ratio = tier.name(noun), number(tier.ratio)
        yield f"# Oversubscription of the fibre {place}: {ratio}:1\n"
    yield "\n"


@scenario_app.command()
def schema(plugin: output.PluginOption = None, as_json: output.JsonOption = False) -> None:
    """Print the JSON schema of scenario files, for editors."""
    from thzsync.scenario.described import json_schema

    output.load_plugins(plugin)
    typer.echo(dump_json(json_schema()))


@scenario_app.command()
def new(
    file: Annotated[Path, Argument(metavar="FILE", help="File to write.")],
    preset: Annotated[
        str, Option(help=f"Preset with the initial values: {output.PRESETS}.")
    ] = "paper",
    plugin: output.PluginOption = None,
    force: Annotated[bool, Option("--force", help="Replace an existing file.")] = False,
    as_json: output.JsonOption = False,
) -> None:
    """Write a commented starter file: every key with its meaning and unit."""
    from thzsync.scenario.starter import starter

    text = starter(preset, plugin or ())
    if file.exists() and not force:
        raise ThzSyncError(f"{file}: exists already; name another file, or replace it with --force")
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise ThzSyncError(f"{file}: cannot be written ({error.strerror})") from None
    line = f"wrote {file}; edit it, then try `thzsync run {file}`"
    output.emit_lines({"file": str(file), "preset": preset}, as_json, [line])


@scenario_app.command("list")
def list_names(plugin: output.PluginOption = None, as_json: output.JsonOption = False) -> None:
    """List every name that a scenario may use: presets, models, methods and policies."""
    from thzsync.feasibility import known_names

    output.load_plugins(plugin)
    names = known_names()
    rows = [(what, ", ".join(values)) for what, values in names.items()]
    output.emit(names, as_json, lambda: output.table("Names", ("what", "names"), rows))
