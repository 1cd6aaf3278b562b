"""Sections of a scenario of which several kinds exist, those of plug-ins included.

A kind is a model with a key ``kind``, whose default is its name. The model validates the keys of
the section, and its methods are what the simulator asks of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from thzsync.errors import ThzSyncError
from thzsync.registry import Registry
from thzsync.scenario.base import Model
from thzsync.scenario.explain import closest

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

Kinds = Registry[str, type[Model]]
"""The kinds of one section by name."""


def kinds_of(
    noun: str, group: str, base: type[Model], built_in: Callable[[], Iterable[type[Model]]]
) -> Kinds:
    """A registry for the kinds of a section; each is a model derived from ``base``."""

    def check(kind: object, place: str) -> None:
        if not (isinstance(kind, type) and issubclass(kind, base)):
            raise ThzSyncError(f"{place}: {kind!r} is not derived from {base.__name__}")
        field = kind.model_fields.get("kind")
        if field is None or not isinstance(field.default, str):
            raise ThzSyncError(f"{place}: {kind.__name__} lacks a key kind with its name")

    return Registry(noun, group, built_in, check, lambda kind: kind.model_fields["kind"].default)


@dataclass(frozen=True)
class OneOf:
    """Annotates a key that holds one kind; a text is short for a kind without further keys."""

    kinds: Kinds
    default: str
    """Name of the kind where none is named."""

    def validate(self, value: Any) -> Model:
        """The model of the named kind, made from a table."""
        if isinstance(value, Model):
            return value
        table = {"kind": value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            raise ValueError("write a table of keys")
        name, known = table.get("kind", self.default), self.kinds.known()
        kind = self.kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            others = f"use one of {', '.join(known)}" if known else "none is known"
            remedy = closest(str(name), known) or f"{others}; plug-ins may bring more"
            raise _refused(name, remedy)
        return kind.model_validate(table)

    def kinds_in(self, table: Any) -> list[type[Model]]:
        """The kind that a table names, or all if it names none that is known."""
        name = table if isinstance(table, str) else self.default
        known = self.kinds.known()
        if isinstance(table, Mapping):
            name = table.get("kind", name)
        elif isinstance(table, Model):
            return [type(table)]
        return [known[name]] if name in known else list(known.values())

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate by kind; write whatever keys the kind has."""
        from pydantic_core import core_schema

        instance = core_schema.is_instance_schema(Model)
        return core_schema.no_info_before_validator_function(self.validate, instance)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Any of the known kinds."""
        schemas = []
        for name, model in self.kinds.known().items():
            model.model_rebuild()
            found = handler(model.__pydantic_core_schema__)
            if name != self.default:
                found["required"] = list(dict.fromkeys(("kind", *found.get("required", ()))))
            schemas.append(found)
        return {"anyOf": schemas}


def one_of(annotation: Any, metadata: Iterable[Any] = ()) -> OneOf | None:
    """The kinds that a key may hold, if it holds kinds; ``metadata`` is that of its field."""
    parts = (*metadata, *get_args(annotation))
    here = next((part for part in parts if isinstance(part, OneOf)), None)
    return here or next((found for part in get_args(annotation) if (found := one_of(part))), None)


def _refused(name: object, remedy: str) -> ValidationError:
    """The error of an unknown kind, at the place of the key ``kind``."""
    problem = PydanticCustomError("kind", "{remedy}", {"remedy": remedy})
    return ValidationError.from_exception_data(
        "kind", [{"type": problem, "loc": ("kind",), "input": name}]
    )
