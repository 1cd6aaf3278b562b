"""Named changes that fit any scenario: radios, mechanisms, more fibre.

An overlay is a table of keys that replace those of a scenario, in a TOML file: one of the package,
or one of the user. Two depend on the scenario: they are functions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.errors import ThzSyncError
from thzsync.files import read_bounded
from thzsync.scenario.explain import closest
from thzsync.scenario.files import LARGEST_FILE_BYTES, load_preset, merged, validated

if TYPE_CHECKING:
    from thzsync.scenario.scenario import Scenario

Changes = Mapping[str, Any]


def overlay_names() -> list[str]:
    """Names of the overlays that come with the package."""
    return sorted({*_FUNCTIONS, *_files()})


def with_overlays(scenario: Scenario, names: Iterable[str | Path]) -> Scenario:
    """The scenario with overlays, each over those before it: names, or paths of TOML files."""
    for name in names:
        values = scenario.model_dump(mode="json", exclude_none=True)
        make = _FUNCTIONS.get(str(name))
        over = tables_of(str(name)) if make is None else make(scenario)
        if "energy" in over:
            values["energy"] = {}  # parameters of one technology belong together
        scenario = validated(merged(values, over), f"overlay {name}")
    return scenario


def tables_of(name: str) -> Changes:
    """The tables of an overlay that is a file: of the package by its name, or of the user."""
    files = _files()
    if name in files:
        return tomllib.loads(files[name])
    if not name.endswith(".toml"):
        known = overlay_names()
        hint = closest(name, known) or f"use one of {', '.join(known)}, or a TOML file"
        raise ThzSyncError(f"overlay {name!r} does not exist; {hint}")
    try:
        return tomllib.loads(read_bounded(Path(name), LARGEST_FILE_BYTES, "an overlay").decode())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ThzSyncError(
            f"{name}: cannot be read as an overlay ({reason}); an overlay is a TOML file of keys"
        ) from None


def _files() -> dict[str, str]:
    folder = resources.files("thzsync.scenario") / "overlays"
    return {f.name.removesuffix(".toml"): f.read_text("utf-8") for f in folder.iterdir()}


def _pipelined(scenario: Scenario) -> Changes:
    """The mechanisms of the preset that comes nearest to the bounds."""
    best = load_preset("beyond").model_dump(mode="json", exclude_none=True)
    return {
        "collectives": {name: best["collectives"][name] for name in ("allreduce", "a2a", "p2p")},
        "thz": {name: best["thz"][name] for name in ("order", "fallback_timeout_s")},
        "coordinator": best["coordinator"],
    }


def _non_blocking(scenario: Scenario) -> Changes:
    """Fibre that no traffic of the racks overloads above their switches."""
    kind = scenario.network.kind
    if kind == "file":
        raise ThzSyncError("overlay non-blocking: rates of this network are in its file")
    if kind != "rings":
        return {"network": {"oversubscription": 1}}
    optical = scenario.optical
    full_bps = optical.access_bps * scenario.floor.lanes
    return {"optical": {"inter_bps": max(optical.inter_bps, full_bps)}}


_FUNCTIONS: Final[dict[str, Callable[[Scenario], Changes]]] = {
    "non-blocking": _non_blocking,
    "pipelined": _pipelined,
}
