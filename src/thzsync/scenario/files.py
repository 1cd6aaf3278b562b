"""Scenarios on disk: TOML in, TOML out, and errors that name the file, the key and the remedy."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
        hint = _closest(name, presets) or f"the presets are {', '.join(presets)}"
        raise ThzSyncError(f"{name}: no such scenario file or preset; {hint}")
    return parse_scenario(presets[name], f"preset {name}")


def load_scenario(path: str | Path) -> Scenario:
    """Read a scenario file; a bare preset name works too."""
    file = Path(path)
    if not file.suffix and not file.is_file():
        return load_preset(str(path))
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync scenario new {path}` writes a starter"
        ) from None
    except UnicodeDecodeError:
        raise ThzSyncError(f"{path}: not a text file; a scenario is TOML in UTF-8") from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read ({error.strerror})") from None
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
    values = dict(raw)
    base = values.pop("preset", None)
    if base is not None:
        presets = _presets()
        if not isinstance(base, str) or base not in presets:
            raise ThzSyncError(f"{source}: preset: found {base!r}; use one of {', '.join(presets)}")
        values = _merged(tomllib.loads(presets[base]), values)
    return validated(values, source)


def validated(values: Mapping[str, Any], source: str) -> Scenario:
    """A scenario from plain values, or what is wrong with them in one line."""
    from thzsync.scenario.scenario import Scenario

    try:
        return Scenario.model_validate(values)
    except ValidationError as error:
        raise ThzSyncError(f"{source}: {explain(error, Scenario)}") from None


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both_tables = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(old, value) if both_tables else value  # type: ignore[arg-type]
    return merged


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """The gravest problem in one line: key, what was found, what is allowed."""
    problems = sorted(error.errors(include_url=False), key=_gravity)
    first, more = problems[0], len(problems) - 1
    text = _explain_one(first, model)
    return text + (f" (and {more} more problem{'s' if more > 1 else ''})" if more else "")


def _gravity(problem: ErrorDetails) -> int:
    """Unknown keys first: a misspelt key is also missing, and only one of the two helps."""
    return {"extra_forbidden": 0, "missing": 2}.get(problem["type"], 1)


def _explain_one(problem: ErrorDetails, model: type[BaseModel]) -> str:
    location, found = problem["loc"], problem["input"]
    key = _key(location)
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = message[:1].lower() + message[1:]
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key; {_allowed_keys(location, model)}"
    if problem["type"] == "missing":
        return f"{key}: this key is required"
    if problem["type"] == "union_tag_not_found":
        return f"{key}.kind: this key is required; it says which fault this is"
    if problem["type"] == "union_tag_invalid":
        context = problem["ctx"]
        return f"{key}.kind: found {context['tag']!r}; use one of {context['expected_tags']}"
    if isinstance(found, (int, float, str)):
        return f"{key}: found {found!r}; {message}"
    return f"{key}: {message}" if key else message


def _key(location: tuple[int | str, ...]) -> str:
    """Dotted key as it stands in the file: without the fault's kind, which Pydantic puts in."""
    if location[:1] == ("faults",):
        location = (*location[:2], *location[3:])
    return ".".join(str(part) for part in location)


def _closest(word: str, known: Iterable[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}?" if close else None


def _allowed_keys(location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    names = _field_names(model.model_json_schema(), location[:-1])
    return _closest(str(location[-1]), names) or f"allowed are {', '.join(names)}"


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
        yield f"{key} = {toml_value(value)}"
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


def toml_value(value: Any) -> str:
    """One value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML's basic strings escape as JSON's do, and DEL on top.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return repr(value)
