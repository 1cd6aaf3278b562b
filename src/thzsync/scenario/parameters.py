"""Sections ``[parameters.NAME]``: keys of objects that are found by name, such as a method.

An object has such a section if its attribute ``parameters`` is a model of the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from thzsync.errors import Problems, ThzSyncError
from thzsync.plugins import families
from thzsync.scenario.base import Model
from thzsync.scenario.explain import closest, explain


def parameter_models() -> dict[str, type[Model]]:
    """The models of all known objects that have one, by the objects' names."""
    found: dict[str, type[Model]] = {}
    for family in families():
        for key, thing in family.known().items():
            model = getattr(thing, "parameters", None)
            if isinstance(model, type) and issubclass(model, Model):
                name = key if isinstance(key, str) else key[1]
                if found.setdefault(name, model) is not model:
                    raise ThzSyncError(
                        f"parameters.{name}: two objects of this name have parameters; rename one"
                    )
    return found


def checked(given: Mapping[str, Any]) -> dict[str, Model]:
    """The sections as models."""
    known, found, problems = parameter_models(), dict[str, Model](), list[str]()
    for name, section in given.items():
        if name not in known:
            others = f"there are some for {', '.join(known)}" if known else "nothing has parameters"
            remedy = closest(name, known) or f"{others}; plug-ins may bring more"
            problems.append(f"parameters.{name}: {remedy}")
            continue
        try:
            found[name] = known[name].model_validate(section)
        except ValidationError as error:
            problems += _lines(name, error, known[name])
    if problems:
        raise ValueError("\n".join(problems))
    return found


def section_of(thing: Any, sections: Mapping[str, Model]) -> Any:
    """The section of an object, its defaults where there is none; None if it has no parameters."""
    model = getattr(thing, "parameters", None)
    if model is None or thing.name in sections:
        return sections.get(thing.name)
    try:
        return model()
    except ValidationError as error:
        raise Problems.of(_lines(thing.name, error, model)) from None


def _lines(name: str, error: ValidationError, model: type[Model]) -> list[str]:
    lines = (f"parameters.{name}.{line}" for line in explain(error, model))
    return [line.replace(".: ", ": ", 1) for line in lines]  # of the whole table
