"""``thzsync plugins``: what scenarios and options may name, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from typer import Argument

from thzsync.cli import output

Member = dict[str, str]


def plugins(
    scenario: Annotated[
        str | None, Argument(metavar="[SCENARIO]", help="Load the plug-ins of this scenario.")
    ] = None,
    plugin: output.PluginOption = None,
    json: output.JsonOption = False,
) -> None:
    """List all methods, kinds of sections and other objects by name, and where they come from."""
    from thzsync.plugins import all_loaded, told
    from thzsync.scenario import Scenario

    output.load_plugins(plugin)
    if scenario is not None:
        Scenario.load(scenario)
    members = list(_members())
    document = {"plugins": told(one.name for one in all_loaded()), "members": members}
    places: dict[tuple[str, str], list[str]] = {}
    for member in members:
        places.setdefault((member["family"], member["from"]), []).append(member["name"])
    rows = [(*place, ", ".join(names)) for place, names in places.items()]
    columns = ("family", "from", "names")
    output.emit(document, json, lambda: output.table("Names by family", columns, rows))


def _members() -> Iterator[Member]:
    """Every member of every family; methods are by collective."""
    from thzsync.plugins import all_loaded, families

    versions = {plugin.name: plugin.version for plugin in all_loaded()}
    for family in families():
        for key in family.known():
            of, name = ("", key) if isinstance(key, str) else (f"{key[0]} ", key[1])
            origin = family.origin(key)
            if origin in versions:
                origin = f"plug-in {origin} {versions[origin] or ''}".rstrip()
            yield {"family": f"{of}{family.noun}", "name": name, "from": origin}
