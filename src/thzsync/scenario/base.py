"""The base of every scenario model, and the types of its keys with their bounds."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from thzsync.errors import ThzSyncError
from thzsync.scenario.units import Quantity, no_truth


def _whole_bits(rate_bps: float) -> float:
    """A rate must be whole bits per second: the packet kernel and the audit both count that way."""
    return float(round(rate_bps))


def _file_name(name: str) -> str:
    """Refuse a zero byte: no file system allows one, and Python's own message is unclear."""
    if "\0" in name:
        raise ValueError("no file has a zero byte in its name")
    return name


# No data centre has values outside these bounds, and no kernel overflows inside them.
Bytes = Annotated[int, Field(gt=0, le=2**53), Quantity("bytes")]
Rate = Annotated[
    float, Field(ge=1, le=1e15, allow_inf_nan=False), Quantity("bps"), AfterValidator(_whole_bits)
]
Seconds = Annotated[float, Field(ge=0, le=1e4, allow_inf_nan=False), Quantity("s")]
"""A duration: at most 10,000 s, almost three hours."""
Instant = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False), Quantity("s")]
"""A point of simulated time: within the first million seconds."""
Hertz = Annotated[float, Field(ge=1e3, le=1e15, allow_inf_nan=False), Quantity("hz")]
Watts = Annotated[float, Field(ge=0, le=1e3, allow_inf_nan=False), Quantity("w")]
Metres = Annotated[float, Field(ge=0, le=1e5, allow_inf_nan=False), Quantity("m")]
Gain = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False), Quantity("db")]
Loss = Annotated[float, Field(ge=0, le=200, allow_inf_nan=False), Quantity("db")]
NoiseDensity = Annotated[
    float, Field(ge=-250, le=-100, allow_inf_nan=False), Quantity("dbm_per_hz")
]
"""Thermal noise has -174 dBm/Hz at 290 K, -198 at 1 K."""
EnergyPerBit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), Quantity("j_per_bit_hop")]
Real = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(no_truth)]
Whole = Annotated[int, BeforeValidator(no_truth)]
Fraction = Annotated[Real, Field(ge=0, le=1)]
Count = Annotated[Whole, Field(ge=1, le=10**9)]
Index = Annotated[Whole, Field(ge=0, le=10**9)]
FileName = Annotated[str, AfterValidator(_file_name)]


class Model(BaseModel):
    """A frozen, closed model: unknown keys are errors. A docstring below a field describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)


def read_bytes(given: Any, place: str) -> int:
    """A size that a caller gave, such as 4194304, ``"4194304"`` or ``"4 MiB"`` [bytes]."""
    from pydantic import TypeAdapter, ValidationError

    from thzsync.scenario.explain import explain

    plain = isinstance(given, str) and given.lstrip("-").isdecimal()
    try:
        found: int = TypeAdapter(Bytes).validate_python(f"{given} B" if plain else given)
    except ValidationError as error:
        raise ThzSyncError(f"{place}: {explain(error)[0].removeprefix(': ')}") from None
    return found
