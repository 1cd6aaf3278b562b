"""The units that numbers of a scenario may carry, as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Final, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_SI: Final = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
_BINARY: Final = {"Ti": 2.0**40, "Gi": 2.0**30, "Mi": 2.0**20, "Ki": 2.0**10}
_SMALL: Final = {"": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}


def _prefixed(unit: str, prefixes: dict[str, float]) -> dict[str, float]:
    return {prefix + unit: scale for prefix, scale in prefixes.items()}


UNITS: Final[dict[str, dict[str, float]]] = {
    "bytes": _prefixed("B", _BINARY | _SI),
    "bps": _prefixed("b/s", _SI),
    "s": _prefixed("s", _SMALL),
    "hz": _prefixed("Hz", _SI),
    "w": _prefixed("W", {"k": 1e3} | _SMALL),
    "m": _prefixed("m", {"k": 1e3, "": 1.0, "c": 1e-2, "m": 1e-3}),
    "db": {"dB": 1.0, "dBi": 1.0},
    "dbm_per_hz": {"dBm/Hz": 1.0},
    "j_per_bit_hop": _prefixed("J/bit/hop", _SMALL),
    "j_per_bit": _prefixed("J/bit", _SMALL),
}
"""By dimension: units for messages and output, the largest first where the order matters."""
_SPELLINGS: Final = {
    "bytes": (("KB", "kB"), ("byte", "B"), ("bytes", "B")),
    "bps": (("bps", "b/s"), ("bit/s", "b/s"), ("bits/s", "b/s")),
    "j_per_bit_hop": (("J/bit", "J/bit/hop"), ("J", "J/bit/hop")),
    "j_per_bit": (("J", "J/bit"),),
}
"""Other spellings of how a unit ends."""
_QUANTITY: Final = re.compile(r"\s*([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*")
_DBM: Final = "dBm"


def no_truth(value: Any) -> Any:
    """Refuse true and false: Pydantic would read them as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("write a number, not true or false")
    return value


class Quantity:
    """Accept ``"16 MiB"`` beside a bare number, and names of usual values if there are any."""

    def __init__(self, dimension: str, names: Mapping[str, float] | None = None) -> None:
        self.dimension, self.names = dimension, names or {}
        self.units = UNITS[dimension]
        self.scales = dict(self.units)
        for other, usual in _SPELLINGS.get(dimension, ()):
            ours = ((u, scale) for u, scale in self.units.items() if u.endswith(usual))
            self.scales |= {u.removesuffix(usual) + other: scale for u, scale in ours}

    def parse(self, value: Any) -> Any:
        """The number in base units; Pydantic checks everything that is not a text."""
        if not isinstance(value, str):
            return no_truth(value)
        if value in self.names:
            return self.names[value]
        match = _QUANTITY.fullmatch(value)
        if match is None:
            raise ValueError(self._remedy())
        digits = match[1].replace("_", "")
        if match[2] == _DBM and self.dimension == "w":
            return _finite(lambda: 10 ** (float(digits) / 10 - 3))
        scale = self._scale(match[2])
        scaled = _finite(lambda: float(Decimal(digits) * Decimal(repr(scale))))
        return round(scaled) if self.dimension == "bytes" and scaled == round(scaled) else scaled

    def text(self, value: float) -> str | None:
        """The value with the largest unit that shows it exactly; None if there is none."""
        for unit, scale in self.units.items():
            digits = f"{value / scale:.6g}"
            if (
                abs(value) >= scale
                and "e" not in digits
                and self.parse(f"{digits} {unit}") == value
            ):
                return f"{digits} {unit}"
        return None

    def _scale(self, unit: str) -> float:
        found = self.scales.get(unit.replace("µ", "u").replace("μ", "u"))
        if found is not None:
            return found
        if self.dimension == "bps" and unit.endswith(("B/s", "Bps")):
            raise ValueError(f"this counts bytes; {self._remedy()}")
        raise ValueError(self._remedy())

    def _remedy(self) -> str:
        units = self._with_dbm(self.units)
        named = "".join(f', or "{name}"' for name in self.names)
        return f"write a number, or a number with one of {', '.join(units)}{named}"

    def _with_dbm(self, units: Iterable[str]) -> list[str]:
        return [*units, *[_DBM] * (self.dimension == "w")]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.parse, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        units = "|".join(map(re.escape, self._with_dbm(self.scales)))
        names = "".join(f"|{re.escape(name)}" for name in self.names)
        number = rf"\s*[-+]?[0-9][0-9_.eE+-]*\s*({units})\s*"
        text = {"type": "string", "pattern": f"^({number}{names})$"}
        return {"anyOf": [handler(schema), text]}


def quantity_of(field: FieldInfo) -> Quantity | None:
    """How a field reads quantities; None if it does not."""
    return next(_quantities((*field.metadata, field.annotation)), None)


def _quantities(parts: Any) -> Iterator[Quantity]:
    for part in parts:
        if isinstance(part, Quantity):
            yield part
        else:
            yield from _quantities((*getattr(part, "__metadata__", ()), *get_args(part)))


def rate_text(rate_bps: float) -> str:
    """A rate as people read it: ``5 Gb/s``."""
    unit, scale = next((u for u in UNITS["bps"].items() if u[1] <= rate_bps), ("b/s", 1.0))
    return f"{rate_bps / scale:.4g} {unit}"


def _finite(scaled: Any) -> float:
    """In decimals, so that "500 ns" is the same number as 500e-9."""
    try:
        found = float(scaled())
    except ArithmeticError:
        found = float("inf")
    if not isfinite(found):
        raise ValueError("this number is beyond all bounds")
    return found
