"""Scenarios on disk: TOML in, TOML out, and errors that name the file, the key and the remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from thzsync.scenario.scenario import Scenario


def _presets() -> dict[str, str]:
    folder = resources.files("thzsync.scenario") / "presets"
    files = {f.name: f for f in folder.iterdir() if f.name.endswith(".toml")}
    return {name.removesuffix(".toml"): files[name].read_text("utf-8") for name in sorted(files)}


def preset_names() -> list[str]:
    """Names of the presets that come with the package."""
    return list(_presets())


def load_preset(name: str) -> Scenario:
    """The preset of this name."""
    presets = _presets()
    if name not in presets:
        raise ThzSyncError(
            f"{name}: no such scenario file or preset; the presets are {', '.join(presets)}"
        )
    return parse_scenario(presets[name], f"preset {name}")


def load_scenario(path: str | Path) -> Scenario:
    """Read a scenario file; a bare preset name works too."""
    file = Path(path)
    if not file.suffix and not file.exists():
        return load_preset(str(path))
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync scenario new {path}` writes a starter"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ThzSyncError(f"{path}: cannot be read as text ({error})") from None
    return parse_scenario(text, str(path))


def parse_scenario(text: str, source: str) -> Scenario:
    """A scenario from TOML text; ``source`` stands in error messages."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ThzSyncError(f"{source}: not valid TOML: {error}") from None
    return build_scenario(raw, source)


def build_scenario(raw: Mapping[str, Any], source: str) -> Scenario:
    """A scenario from plain values; a ``preset`` key names the scenario it starts from."""
    from thzsync.scenario.scenario import Scenario

    values = dict(raw)
    base = values.pop("preset", None)
    if base is not None:
        presets = _presets()
        if base not in presets:
            raise ThzSyncError(
                f"{source}: preset: {base!r} does not exist; use one of {', '.join(presets)}"
            )
        values = _merged(tomllib.loads(presets[base]), values)
    try:
        return Scenario.model_validate(values)
    except ValidationError as error:
        raise ThzSyncError(f"{source}: {_explain(error)}") from None


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both_tables = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(old, value) if both_tables else value  # type: ignore[arg-type]
    return merged


def _explain(error: ValidationError) -> str:
    """The first problem in one line: key, what was found, what is allowed."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    found = first.get("input")
    kind = first["type"]
    if kind == "extra_forbidden":
        message = f"unknown key; {_allowed_keys(first['loc'])}"
        text = f"{key}: {message}"
    elif kind == "missing":
        text = f"{key}: this key is required"
    elif isinstance(found, (int, float, str, bool)) or found is None:
        text = f"{key}: found {found!r}; {message}"
    else:
        text = f"{key}: {message}" if key else message
    more = error.error_count() - 1
    return text + (f" (and {more} more problem{'s' if more > 1 else ''})" if more else "")


def _allowed_keys(location: tuple[int | str, ...]) -> str:
    import difflib

    from thzsync.scenario.scenario import Scenario

    names = _field_names(Scenario.model_json_schema(), location[:-1])
    close = difflib.get_close_matches(str(location[-1]), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"allowed are {', '.join(names)}"


def _field_names(schema: dict[str, Any], location: tuple[int | str, ...]) -> list[str]:
    definitions = schema.get("$defs", {})
    candidates = [schema]
    for part in location:
        nested: list[dict[str, Any]] = []
        for candidate in candidates:
            for option in _options(candidate, definitions):
                if isinstance(part, int):
                    nested.append(option.get("items", {}))
                elif part in option.get("properties", {}):
                    nested.append(option["properties"][part])
                elif option.get("properties", {}).get("kind", {}).get("const") == part:
                    nested.append(option)
        candidates = nested
    found: dict[str, None] = {}
    for candidate in candidates:
        for option in _options(candidate, definitions):
            found.update(dict.fromkeys(option.get("properties", {})))
    return list(found)


def _options(node: dict[str, Any], definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in node:
        node = definitions[node["$ref"].rsplit("/", 1)[1]]
    nested = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())]
    if not nested:
        yield node
    for option in nested:
        yield from _options(option, definitions)


def dump_toml(scenario: Scenario) -> str:
    """TOML that loads to an equal scenario (absent optional keys stay absent)."""
    values = scenario.model_dump(mode="json", exclude_none=True)
    return "\n".join(_toml_lines(values, ())).lstrip("\n") + "\n"


def _toml_lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    plain = {k: v for k, v in table.items() if not _is_table(v)}
    for key, value in plain.items():
        yield f"{key} = {_toml_value(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield f"\n[{'.'.join((*path, key))}]"
            yield from _toml_lines(value, (*path, key))
        elif _is_table(value):
            for item in value:
                yield f"\n[[{'.'.join((*path, key))}]]"
                yield from _toml_lines(item, (*path, key))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        import json

        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    return repr(value)
