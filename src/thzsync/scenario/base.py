"""The base of every scenario model, and the units that numbers may carry."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

UNITS: Final[dict[str, dict[str, float]]] = {
    "bytes": {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    "bps": {"bps": 1, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    "s": {"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12},
    "hz": {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9, "THz": 1e12},
    "w": {"W": 1, "mW": 1e-3, "uW": 1e-6, "kW": 1e3},
    "m": {"m": 1, "cm": 1e-2, "mm": 1e-3},
    "db": {"dB": 1, "dBi": 1},
}
_QUANTITY: Final = re.compile(r"\s*([-+]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*")


def _quantity(dimension: str) -> BeforeValidator:
    """Accept ``"16 MiB"`` beside a bare number; refuse a unit of another dimension."""
    units = UNITS[dimension]

    def parse(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = _QUANTITY.fullmatch(value)
        if match is None or match[2] not in units:
            raise ValueError(f"write a number, or a number with one of {', '.join(units)}")
        scaled = float(match[1].replace("_", "")) * units[match[2]]
        return round(scaled) if dimension == "bytes" and scaled == round(scaled) else scaled

    return BeforeValidator(parse)


Bytes = Annotated[int, _quantity("bytes"), Field(gt=0)]
Rate = Annotated[float, _quantity("bps"), Field(gt=0, allow_inf_nan=False)]
Seconds = Annotated[float, _quantity("s"), Field(ge=0, allow_inf_nan=False)]
Hertz = Annotated[float, _quantity("hz"), Field(gt=0, allow_inf_nan=False)]
Watts = Annotated[float, _quantity("w"), Field(gt=0, allow_inf_nan=False)]
Metres = Annotated[float, _quantity("m"), Field(ge=0, allow_inf_nan=False)]
Decibels = Annotated[float, _quantity("db"), Field(allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Index = Annotated[int, Field(ge=0)]


class Model(BaseModel):
    """A frozen, closed model: unknown keys are errors and every field has a description."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )
