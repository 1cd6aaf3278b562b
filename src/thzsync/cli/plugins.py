"""``thzsync plugins``: what scenarios and options may name, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    titles = {one.name: f"plug-in {one.name} {one.version or ''}".rstrip() for one in all_loaded()}
    members = list(_members(titles))
    document = {"plugins": told(one.name for one in all_loaded()), "members": members}
    places: dict[tuple[str, str], list[str]] = {}
    for member in members:
        places.setdefault((member["family"], member["from"]), []).append(member["name"])
    rows = [(*place, ", ".join(names)) for place, names in places.items()]
    named = {member["from"] for member in members}
    rows += [("-", title, "nothing new") for title in titles.values() if title not in named]
    columns = ("family", "from", "names")
    output.emit(document, json, lambda: output.table("Names by family", columns, rows))


def _members(titles: Mapping[str, str]) -> Iterator[Member]:
    """Every member of every family; methods are by collective."""
    from thzsync.plugins import families

    for family in families():
        for key in family.known():
            of, name = ("", key) if isinstance(key, str) else (f"{key[0]} ", key[1])
            origin = family.origin(key)
            place = titles.get(origin, origin)
            yield {"family": f"{of}{family.noun}", "name": name, "from": place}
