"""Sections of a scenario of which several kinds exist, those of plug-ins included.

A kind is a model with a key ``kind``, whose default is its name. The model validates the keys of
the section, and its methods are what the simulator asks of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
            hint = closest(str(name), known) or f"use one of {', '.join(known)}"
            raise ValueError(f"kind {name!r} does not exist; {hint}")
        return kind.model_validate(table)

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
        models = self.kinds.known().values()
        for model in models:
            model.model_rebuild()
        return {"anyOf": [handler(model.__pydantic_core_schema__) for model in models]}
