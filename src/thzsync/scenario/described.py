"""What the keys of a scenario mean: the docstrings below the fields, read on demand.

Pydantic would read them in every command and worker, as soon as the models are loaded. Only two
commands show them, and finding the sources takes half as long as making the models.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from thzsync.scenario.base import Model
from thzsync.scenario.files import preset_names
from thzsync.scenario.parameters import parameter_models
from thzsync.scenario.scenario import Scenario


def json_schema() -> dict[str, Any]:
    """What a scenario file may contain, for editors.

    It is the schema of the models plus the key ``preset``. A file that starts from a preset may
    omit any key, so the schema does not require the floor's keys. Loading checks them.
    """
    describe()
    schema = Scenario.model_json_schema()
    preset = {
        "type": "string",
        "enum": preset_names(),
        "description": "The preset this file starts from; its other keys replace the preset's.",
    }
    schema["properties"] = {"preset": preset, **schema["properties"]}
    schema["properties"]["parameters"] = {
        "type": "object",
        "properties": {name: m.model_json_schema() for name, m in parameter_models().items()},
        "description": Scenario.model_fields["parameters"].description,
    }
    schema.pop("required", None)
    for floor in schema["properties"]["floor"]["anyOf"]:
        if floor["properties"]["kind"]["default"] == "rings":
            floor.pop("required")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def describe() -> None:
    """Give every field of every model its description, if the source files exist."""
    for model in dict.fromkeys(_models(Model)):
        texts: dict[str, str] = {}
        for parent in reversed(model.__mro__[: model.__mro__.index(Model)]):
            texts |= _docstrings(parent.__module__).get(parent.__qualname__, {})
        missing = {k: f for k, f in model.model_fields.items() if f.description is None}
        for name in missing.keys() & texts.keys():
            missing[name].description = texts[name]
        if missing.keys() & texts.keys():
            model.model_rebuild(force=True, raise_errors=False)


def _models(model: type[Model]) -> Iterator[type[Model]]:
    """In the order in which they were made; each comes after those that are derived from it."""
    for child in model.__subclasses__():
        yield from _models(child)
        yield child


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """By top-level class of a module, the docstrings below its fields."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, SyntaxError, TypeError):
        return {}
    return {c.name: dict(_below_fields(c)) for c in tree.body if isinstance(c, ast.ClassDef)}


def _below_fields(definition: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(definition.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value) if isinstance(below.value, ast.Constant) else None
            if isinstance(text, str):
                yield ast.unparse(field.target), inspect.cleandoc(text)
