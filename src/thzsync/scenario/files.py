"""Scenarios on disk: TOML in, TOML out."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from thzsync import plugins
from thzsync.errors import Problems, ThzSyncError
from thzsync.files import escape_controls, read_bounded
from thzsync.scenario.explain import closest, explain, models_in
from thzsync.scenario.units import quantity_of

if TYPE_CHECKING:
    from thzsync.scenario.scenario import Scenario

_PLAIN: Final = ("db", "dbm_per_hz")
"""Dimensions with one unit, which the name of the key ends with."""
_BARE: Final = re.compile(r"[\w-]+", re.ASCII)
"""Keys that need no quotes."""
LARGEST_FILE_BYTES: Final = 4 * 2**20
"""Largest scenario file that is read; real ones are far smaller [bytes]."""


def _presets() -> dict[str, str]:
    folder = resources.files("thzsync.scenario") / "presets"
    files = {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}
    return {name: files[name].read_text("utf-8") for name in sorted(files)}


def preset_names() -> list[str]:
    """Names of the presets that come with the package."""
    return list(_presets())


def load_preset(name: str, further: Iterable[str] = ()) -> Scenario:
    """The preset of this name, with plug-ins."""
    presets = _presets()
    if name not in presets:
        hint = closest(name, presets) or f"the presets are {', '.join(presets)}"
        raise ThzSyncError(f"{name}: no such scenario file or preset; {hint}")
    return _with_plugins(tomllib.loads(presets[name]), further, f"preset {name}", None)


def load_scenario(path: str | Path, further: Iterable[str] = ()) -> Scenario:
    """Read a scenario file, or a preset by its name; ``further`` plug-ins are added to its own."""
    file = Path(path)
    if not file.suffix and not file.is_file() and (str(path) in _presets() or not file.is_dir()):
        return load_preset(str(path), further)
    try:
        text = read_bounded(file, LARGEST_FILE_BYTES, "a scenario").decode("utf-8")
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync scenario new {path}` writes a starter"
        ) from None
    except IsADirectoryError:
        raise ThzSyncError(f"{path}: is a folder; {_instead_of(file)}") from None
    except UnicodeDecodeError:
        raise ThzSyncError(f"{path}: not a text file; a scenario is TOML in UTF-8") from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read ({error.strerror})") from None
    return _with_plugins(read_toml(text, str(path)), further, str(path), file.parent)


def _with_plugins(
    raw: dict[str, Any], further: Iterable[str], source: str, beside: Path | None
) -> Scenario:
    """A scenario with plug-ins in its folder, and with those of ``--plugin``."""
    named = raw.get("plugins", [])
    if isinstance(named, list) and all(isinstance(name, str) for name in named):
        own = plugins.load(named, f"{source}: plugins", beside)
        if both := list(dict.fromkeys((*own, *plugins.load(further, "--plugin", beside)))):
            raw["plugins"] = both
    return build_scenario(raw, source)


def _instead_of(folder: Path) -> str:
    """What to name where a folder was named for a scenario."""
    inside = folder / "scenario.toml"
    if inside.is_file():
        return f"its scenario is {inside}; `thzsync report {folder}` shows its results"
    return "name a scenario file (TOML) or a preset"


def parse_scenario(text: str, source: str) -> Scenario:
    """A scenario from TOML text; error messages name ``source``."""
    return build_scenario(read_toml(text, source), source)


def read_toml(text: str, source: str) -> dict[str, Any]:
    """The tables of a TOML text; error messages name ``source``."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThzSyncError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise ThzSyncError(f"{source}: brackets are nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits, for instance
        raise ThzSyncError(f"{source}: not valid TOML: {str(error).split(';')[0]}") from None


def build_scenario(raw: Mapping[str, Any], source: str) -> Scenario:
    """A scenario from plain values; the key ``preset`` names the scenario that it starts from."""
    return validated(_resolved(raw, source), source)


def _resolved(raw: Mapping[str, Any], source: str) -> dict[str, Any]:
    """All keys of a file, including those of the preset that it starts from."""
    values = dict(raw)
    base, presets = values.pop("preset", None), _presets()
    if base is None:
        return values
    if not isinstance(base, str) or base not in presets:
        raise ThzSyncError(f"{source}: preset: found {base!r}; use one of {', '.join(presets)}")
    return _merged(_resolved(tomllib.loads(presets[base]), source), values)


def validated(values: Mapping[str, Any], source: str) -> Scenario:
    """A scenario from plain values, or what is wrong with them in one line."""
    from thzsync.scenario.scenario import Scenario

    try:
        return Scenario.model_validate(values)
    except ValidationError as error:
        raise Problems.of(f"{source}: {line}" for line in explain(error, None, values)) from None


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    if over.get("kind", base.get("kind")) != base.get("kind"):
        return dict(over)  # a floor or network of another kind has other keys
    for key, value in over.items():
        old = merged.get(key)
        both_tables = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(old, value) if both_tables else value  # type: ignore[arg-type]
    return merged


def dump_toml(scenario: Scenario) -> str:
    """TOML that loads to an equal scenario; absent optional keys stay absent."""
    return "\n".join(_toml_lines(scenario, ())).lstrip("\n") + "\n"


def _toml_lines(model: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    """Plain keys first, since TOML gives every key to the table named last."""
    tables = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, (BaseModel, dict)) or _items(value):
            tables[name] = value
        elif value is not None:
            yield f"{name} = {field_text(field, value)}"
    for name, value in tables.items():
        header = ".".join((*path, name))
        if isinstance(value, dict) and models_in(type(model).model_fields[name].annotation):
            for key, inner in value.items():
                place = (*path, name, key if _BARE.fullmatch(key) else toml_value(key))
                yield f"\n[{'.'.join(place)}]"
                yield from _toml_lines(inner, place)
            continue
        if isinstance(value, dict):
            yield f"\n[{header}]"
            yield from (f"{toml_value(key)} = {toml_value(v)}" for key, v in value.items())
            continue
        for item in _items(value) or (value,):
            yield f"\n[[{header}]]" if _items(value) else f"\n[{header}]"
            yield from _toml_lines(item, (*path, name))


def _items(value: Any) -> tuple[BaseModel, ...]:
    """The tables of a list of tables."""
    tables = isinstance(value, tuple) and all(isinstance(item, BaseModel) for item in value)
    return value if tables else ()


def field_text(field: FieldInfo, value: Any) -> str:
    """The value of a key as TOML, with a readable unit."""
    unit = quantity_of(field)
    if unit is not None and unit.dimension not in _PLAIN and (text := unit.text(value)):
        return toml_value(text)
    return toml_value(value)


def toml_value(value: Any) -> str:
    """One value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings have the escapes of JSON, and also escape DEL.
        return escape_controls(json.dumps(value, ensure_ascii=False))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return repr(value)
