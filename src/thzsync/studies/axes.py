"""How axes and their values are called and drawn, the same in every picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from thzsync.display import number

if TYPE_CHECKING:
    from thzsync.studies.result import Sweep

PREFIXES: Final = {1e12: "T", 1e9: "G", 1e6: "M"}
WIDE: Final = 8.0
"""Ratio of the greatest to the least value from which an axis is drawn in powers of two."""


def leading_axes(sweep: Sweep) -> list[str]:
    """The first key of every axis; keys that are zipped with it follow from it."""
    return [next(iter(group)) for group in sweep.specification.groups]


def axis_title(sweep: Sweep, axis: str) -> str:
    """An axis with the keys whose values go together with it."""
    for group in sweep.specification.groups:
        if axis in group and len(group) > 1:
            others = ", ".join(key for key in group if key != axis)
            return f"{axis} (with {others})"
    return axis


def value_name(value: Any) -> str:
    """A value as people read it, such as ``400 G``."""
    for size, prefix in PREFIXES.items():
        if is_number(value) and abs(value) >= size:
            return f"{number(value / size, 3)} {prefix}"
    return number(value, 3)


def held_name(held: Mapping[str, Any]) -> str:
    """The axes that are held in a picture, and at which values."""
    return ", ".join(f"{key} = {value_name(value)}" for key, value in held.items())


def is_number(value: Any) -> bool:
    """Whether a value has a place on a scale; yes and no have none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_wide(values: Iterable[float]) -> bool:
    """Whether equal ratios rather than equal differences should be equally far apart."""
    known = list(values)
    return min(known) > 0 and max(known) / min(known) >= WIDE
