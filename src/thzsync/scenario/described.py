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

from thzsync.scenario.base import Model


def describe() -> None:
    """Give every field of every model its description, if the source files exist."""
    for model in dict.fromkeys(_models(Model)):
        found = False
        for parent in model.__mro__[: model.__mro__.index(Model)]:
            for name, text in _docstrings(parent.__module__, parent.__qualname__):
                field = model.model_fields.get(name)
                if field is not None and field.description is None:
                    field.description, found = text, True
        if found:
            model.model_rebuild(force=True, raise_errors=False)


def _models(model: type[Model]) -> Iterator[type[Model]]:
    """In the order in which they were made; each comes after those that are derived from it."""
    for child in model.__subclasses__():
        yield from _models(child)
        yield child


@cache
def _docstrings(module: str, name: str) -> tuple[tuple[str, str], ...]:
    """The names in a class that have a docstring below them, and that docstring."""
    definition = _classes(module).get(name)
    if definition is None:
        return ()
    return tuple(
        (ast.unparse(field.target), inspect.cleandoc(below.value.value))
        for field, below in zip(definition.body, definition.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    )


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The top-level classes of a module."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, SyntaxError, TypeError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
