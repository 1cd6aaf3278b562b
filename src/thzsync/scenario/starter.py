"""A scenario file to start from: every key with its meaning, its unit and a valid value."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from thzsync.registry import BUILT_IN
from thzsync.scenario.base import Model
from thzsync.scenario.described import describe
from thzsync.scenario.explain import models_of
from thzsync.scenario.files import field_text, load_preset, toml_value
from thzsync.scenario.kinds import one_of
from thzsync.scenario.parameters import parameter_models

WIDTH: Final = 96


def starter(preset: str = "paper", plugins: Iterable[str] = ()) -> str:
    """A commented scenario file with the values of a preset, and the keys of plug-ins."""
    scenario = load_preset(preset, plugins)
    describe()
    head = f"""\
# A scenario of thzsync, started from the preset "{preset}". A key behind a '#' is not set.
# Numbers may carry a unit, as in "16 MiB" or "100 Gb/s".
# A file may also say  preset = "{preset}"  and list only what differs from it.
"""
    return "\n".join([head, *_table(scenario, ()), *_parameters()]) + "\n"


def _parameters() -> Iterator[str]:
    """Sections of objects that plug-ins and packages bring."""
    for name, model in parameter_models().items():
        yield ""
        yield from _absent(model, f"parameters.{name}", many=False)


def _table(model: Model, path: tuple[str, ...]) -> Iterator[str]:
    """Plain keys first, since TOML gives every key to the table named last."""
    tables: list[tuple[str, FieldInfo, Any]] = []
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, dict) and _holds_tables(field):
            continue
        if _holds_tables(field) and not isinstance(value, (int, float, str)):
            tables.append((name, field, value))
        else:
            yield from _comment(field.description)
            yield _assignment(model, name, value)
    for name, field, value in tables:
        yield from _nested(name, field, value, path)


def _assignment(model: Model, name: str, value: Any) -> str:
    if value is None:
        return f"# {name} ="
    return f"{name} = {field_text(type(model).model_fields[name], value)}"


def _nested(name: str, field: FieldInfo, value: Any, path: tuple[str, ...]) -> Iterator[str]:
    header = ".".join((*path, name))
    items = value if isinstance(value, tuple) else (value,)
    many = get_origin(field.annotation) is tuple
    for item in items:
        if item is not None:
            yield ""
            yield from _comment(field.description)
            yield f"[[{header}]]" if many else f"[{header}]"
            yield from _table(item, (*path, name))
    models = models_of(field) if value in (None, ()) else _further(field, value)
    if models:
        yield ""
        yield from _comment(field.description)
    for number, kind in enumerate(models):
        if number:
            yield "#"
        yield from _absent(kind, header, many)


def _holds_tables(field: FieldInfo) -> bool:
    return bool(models_of(field)) or one_of(field.annotation, field.metadata) is not None


def _further(field: FieldInfo, value: Any) -> list[type[Model]]:
    """Kinds of plug-ins that a section does not have, but could have."""
    section = one_of(field.annotation, field.metadata)
    if section is None:
        return []
    kinds = section.kinds
    others = {name: kind for name, kind in kinds.known().items() if kind is not type(value)}
    return [kind for name, kind in others.items() if kinds.origin(name) != BUILT_IN]


def _absent(kind: type[BaseModel], header: str, many: bool) -> Iterator[str]:
    """A table that is not set: its keys and their meaning, all as comments."""
    yield f"# [[{header}]]" if many else f"# [{header}]"
    nested: list[tuple[str, type[BaseModel]]] = []
    for name, field in kind.model_fields.items():
        if _holds_tables(field):
            nested += [(f"{header}.{name}", model) for model in models_of(field)]
        else:
            meaning = " ".join((field.description or "").split())  # it may have several lines
            yield f"# {name} = {_default(field)}".rstrip() + f"  # {meaning}"
    for place, model in nested:
        yield "#"
        yield from _absent(model, place, many=False)


def _default(field: FieldInfo) -> str:
    """The value of an absent key; for a constant, its only possible value."""
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    value = choices[0] if field.is_required() and len(choices) == 1 else field.default
    if value is None or value is PydanticUndefined:
        return ""
    return toml_value(list(value) if isinstance(value, tuple) else value)


def _comment(description: str | None) -> Iterator[str]:
    for line in textwrap.wrap(description or "", WIDTH):
        yield f"# {line}"
