"""What the keys of a scenario mean: the docstrings below the fields, read when somebody asks.

Pydantic would read them whenever the models are loaded, by every command and worker, although two
commands show them; and finding the sources takes half as long as making the models.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache

from thzsync.scenario.base import Model


@cache
def describe() -> None:
    """Give every field of every model its description."""
    for model in dict.fromkeys(_models(Model)):
        for parent in reversed(model.__mro__):
            if issubclass(parent, Model):
                for name, text in _docstrings(parent):
                    model.model_fields[name].description = text
        model.model_rebuild(force=True)


def _models(model: type[Model]) -> Iterator[type[Model]]:
    """In the order in which they were made: what a model holds comes before it."""
    for child in model.__subclasses__():
        yield child
        yield from _models(child)


def _docstrings(model: type[Model]) -> Iterator[tuple[str, str]]:
    """The model's own fields that have a docstring."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            value = below.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield ast.unparse(field.target), inspect.cleandoc(value.value)
