"""The base of every scenario model, and the units that numbers may carry."""

from __future__ import annotations

import re
from decimal import Decimal
from math import isfinite
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

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


def no_truth(value: Any) -> Any:
    """Refuse true and false, which Pydantic would read as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("write a number, not true or false")
    return value


class Quantity:
    """Accept ``"16 MiB"`` beside a bare number; refuse a unit of another dimension."""

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension
        self.units = UNITS[dimension]

    def parse(self, value: Any) -> Any:
        """The number in base units; anything but a text is left to Pydantic."""
        if not isinstance(value, str):
            return no_truth(value)
        match = _QUANTITY.fullmatch(value)
        if match is None or match[2] not in self.units:
            raise ValueError(f"write a number, or a number with one of {', '.join(self.units)}")
        scaled = _scaled(match[1].replace("_", ""), self.units[match[2]])
        return round(scaled) if self.dimension == "bytes" and scaled == round(scaled) else scaled

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.parse, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        units = "|".join(self.units)
        text = {"type": "string", "pattern": rf"^\s*[-+]?[0-9][0-9_.eE+-]*\s*({units})\s*$"}
        return {"anyOf": [handler(schema), text]}


def _scaled(digits: str, scale: float) -> float:
    """In decimals, so that "500 ns" is the same number as 500e-9."""
    try:
        scaled = float(Decimal(digits) * Decimal(repr(scale)))
    except ArithmeticError:
        scaled = float("inf")
    if not isfinite(scaled):
        raise ValueError("this number is beyond all bounds")
    return scaled


def _whole_bits(rate_bps: float) -> float:
    """Fibres carry whole bits per second: the packet kernel counts so, and the audit must agree."""
    return float(round(rate_bps))


def _file_name(name: str) -> str:
    """No file system knows a zero byte, and Python's complaint comes from deep inside."""
    if "\0" in name:
        raise ValueError("no file has a zero byte in its name")
    return name


# What lies outside these bounds is no data centre; inside them no kernel overflows.
Bytes = Annotated[int, Field(gt=0, le=2**53), Quantity("bytes")]
Rate = Annotated[
    float, Field(ge=1, le=1e15, allow_inf_nan=False), Quantity("bps"), AfterValidator(_whole_bits)
]
Seconds = Annotated[float, Field(ge=0, le=1e4, allow_inf_nan=False), Quantity("s")]
"""A duration: at most 10,000 s, almost three hours."""
Instant = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), Quantity("s")]
"""A point of simulated time: within the first million seconds."""
Hertz = Annotated[float, Field(ge=1e3, le=1e15, allow_inf_nan=False), Quantity("hz")]
Watts = Annotated[float, Field(ge=1e-15, le=1e6, allow_inf_nan=False), Quantity("w")]
Metres = Annotated[float, Field(ge=0, le=1e5, allow_inf_nan=False), Quantity("m")]
Decibels = Annotated[float, Field(ge=-300, le=300, allow_inf_nan=False), Quantity("db")]
Loss = Annotated[float, Field(ge=0, le=300, allow_inf_nan=False), Quantity("db")]
Real = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(no_truth)]
Whole = Annotated[int, BeforeValidator(no_truth)]
Fraction = Annotated[Real, Field(ge=0, le=1)]
Count = Annotated[Whole, Field(ge=1, le=10**9)]
Index = Annotated[Whole, Field(ge=0, le=10**9)]
FileName = Annotated[str, AfterValidator(_file_name)]


class Model(BaseModel):
    """A frozen, closed model: unknown keys are errors. A docstring below a field describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)
