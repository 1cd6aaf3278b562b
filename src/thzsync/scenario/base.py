"""The base of every scenario model, and the units that numbers may carry."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
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


class Quantity:
    """Accept ``"16 MiB"`` beside a bare number; refuse a unit of another dimension."""

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension
        self.units = UNITS[dimension]

    def parse(self, value: Any) -> Any:
        """The number in base units; anything but a text is left to Pydantic."""
        if not isinstance(value, str):
            return value
        match = _QUANTITY.fullmatch(value)
        if match is None or match[2] not in self.units:
            raise ValueError(f"write a number, or a number with one of {', '.join(self.units)}")
        # In decimals, so that "500 ns" is the same number as 500e-9.
        scaled = float(Decimal(match[1].replace("_", "")) * Decimal(repr(self.units[match[2]])))
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


Bytes = Annotated[int, Field(gt=0, le=2**53), Quantity("bytes")]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False), Quantity("bps")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False), Quantity("s")]
Hertz = Annotated[float, Field(gt=0, allow_inf_nan=False), Quantity("hz")]
Watts = Annotated[float, Field(gt=0, allow_inf_nan=False), Quantity("w")]
Metres = Annotated[float, Field(ge=0, allow_inf_nan=False), Quantity("m")]
Decibels = Annotated[float, Field(allow_inf_nan=False), Quantity("db")]
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Index = Annotated[int, Field(ge=0)]


class Model(BaseModel):
    """A frozen, closed model: unknown keys are errors and every field has a description."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )
