"""How axes and their values are called and drawn, the same in every picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from thzsync.display import number, with_unit

if TYPE_CHECKING:
    from pydantic import BaseModel

    from thzsync.studies.result import Sweep

WIDE: Final = 8.0
"""Ratio of the greatest to the least value from which an axis is drawn in powers of two."""
_SYMBOL: Final = re.compile(
    r"^(?:(?:\w|\w+[_^]\w+|Alpha|Gamma|Lambda|Delta rho)[,;] |Flow fidelity: )"
)
"""What a description may begin with before it says what a key sets: the symbol of the paper."""
_UNIT: Final = re.compile(r"\s*\[([^\]]+)\]")


def leading_axes(sweep: Sweep) -> list[str]:
    """The first key of every axis; keys that are zipped with it follow from it."""
    return [next(iter(group)) for group in sweep.specification.groups]


def axis_title(sweep: Sweep, axis: str) -> str:
    """An axis with the keys whose values go together with it."""
    for group in sweep.specification.groups:
        if axis in group and len(group) > 1:
            others = ", ".join(key_name(key) for key in group if key != axis)
            return f"{heading(axis)} (with {others})"
    return heading(axis)


def key_name(key: str) -> str:
    """What a key of the scenario sets, by its description; a key without one is its own name."""
    return _described(key)[0] or key


def heading(key: str) -> str:
    """The name of a key at the beginning of a line."""
    name = key_name(key)
    return name if name == key else name[0].upper() + name[1:]


def value_name(value: Any, key: str = "") -> str:
    """A value of a key as people read it, such as ``400 Gb/s``."""
    if not is_number(value):
        return number(value)
    unit = _described(key)[1]
    return with_unit(value, unit, 3) if unit else number(value, 3)


def held_name(held: Mapping[str, Any]) -> str:
    """The axes that are fixed in a picture, and at which values."""
    return ", ".join(f"{key_name(key)} = {value_name(value, key)}" for key, value in held.items())


def is_number(value: Any) -> bool:
    """Whether a value has a place on a scale; yes and no have none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_wide(values: Iterable[float], key: str = "") -> bool:
    """Whether equal ratios rather than equal differences should be equally far apart.

    Decibels are logarithms already: their scale is linear whatever the values are.
    """
    known = list(values)
    if _described(key)[1].startswith("dB"):
        return False
    return min(known) > 0 and max(known) / min(known) >= WIDE


@cache
def _described(key: str) -> tuple[str, str]:
    """Name and unit of a key: the first clause of its description, and the unit in brackets."""
    text = next(_descriptions(key), "")
    unit = _UNIT.search(text)
    clause = re.split(r"[,;:(.]", _SYMBOL.sub("", _UNIT.sub("", text)))[0].strip()
    lowered = clause[:1].lower() if clause[1:2].islower() else clause[:1]
    return lowered + clause[1:], unit[1] if unit else ""


def _descriptions(key: str) -> Iterator[str]:
    """Descriptions of the fields that a key may mean; positions and names in it are skipped."""
    from thzsync.scenario import Scenario
    from thzsync.scenario.described import describe
    from thzsync.scenario.explain import models_in

    describe()
    models: list[type[BaseModel]] = [Scenario]
    *path, last = key.split(".")
    for part in path:
        inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        models = [model for kind in inner for model in models_in(kind)] or models
    for model in models:
        field = model.model_fields.get(last)
        if field is not None and field.description:
            yield " ".join(field.description.split())
