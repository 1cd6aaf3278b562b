"""What disciplines and carriers declare of what they send: the auditor checks it in records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from math import ceil
from typing import Any, Final

from thzsync.errors import ThzSyncError

POWERS: Final = ("budget", "slowest", "least")


@dataclass(frozen=True)
class Declaration:
    """What holds for every transmission of a discipline.

    The defaults promise nothing that some discipline could fail to keep.
    """

    common: bool
    """An event sends one round at a time, whose transmissions all end together."""
    guarded: bool
    """Every round begins with the guard time, in which nothing is sent."""
    steers: bool
    """The guard time occurs exactly where an RF chain turns to another rack; links stay pointed."""
    in_turn: bool
    """A flow begins nothing while something of it is in the air."""
    work_conserving: bool = False
    """No event is idle while a usable subband could carry each of its chunks, and none of these
    chunks is left to the fibre."""
    power: str = "budget"
    """What bounds the power of a transmission: the decided budget (``budget``); in the slowest
    transmission of a round, also what its bytes need in its time (``slowest``); in every
    transmission, also what its bytes need (``least``)."""
    uses_budget: bool = False
    """In every round, the sender that sets its length uses all the power that it may."""

    @classmethod
    def of(cls, told: Mapping[str, object], place: str) -> Declaration:
        """The facts among some values; ``place`` names them in errors."""
        found: dict[str, Any] = {f.name: told[f.name] for f in fields(cls) if f.name in told}
        power = found.get("power", cls.power)
        for name, value in found.items():
            if name != "power" and not isinstance(value, bool):
                raise ThzSyncError(f"{place}: {name} is {value!r}; give true or false")
        if power not in POWERS:
            raise ThzSyncError(f"{place}: power is {power!r}; use one of {', '.join(POWERS)}")
        missing = [f.name for f in fields(cls)[:4] if f.name not in found]
        if missing:
            raise ThzSyncError(f"{place}: lacks {', '.join(missing)}; see Discipline")
        return cls(**found)

    def document(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class CarrierFacts:
    """What holds for every sending of a carrier beside fibre and THz."""

    one_at_a_time: bool
    """Nothing begins while something else is under way, between whatever racks."""
    rate_bps: float | None = None
    """Every sending takes its bits over this rate, rounded up to a picosecond [bit/s]."""
    energy_j_per_bit: float | None = None
    """Every sending takes this energy per bit [J]."""
    wall_j_per_bit: float | None = None
    """Energy per bit at the wall plug; what the sending took if absent [J]."""
    idle_w: float = 0.0
    """Static power of the carrier as a whole [W]."""

    def duration_ps(self, size_bytes: int) -> int:
        """How long so many bytes take at its rate [ps]."""
        return ceil(Fraction(8 * 10**12 * size_bytes) / Fraction(self.rate_bps or 1))

    def energy_j(self, size_bytes: int) -> float:
        """What so many bytes take [J]."""
        return 8.0 * size_bytes * (self.energy_j_per_bit or 0.0)


def read_carriers(told: object, place: str) -> dict[str, CarrierFacts]:
    """What the carriers of a record declare, by name; nothing where there are none."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(dict[str, CarrierFacts]).validate_python(told or {})
    except ValidationError:
        raise ThzSyncError(f"{place}: carriers are damaged; record the run anew") from None


def read_declarations(told: object, place: str) -> dict[str, Declaration] | None:
    """The declarations of a record by discipline; None where it has none, as until version 0.3."""
    if told is None:
        return None
    if not isinstance(told, dict) or not all(isinstance(d, dict) for d in told.values()):
        raise ThzSyncError(f"{place}: disciplines are damaged; record the run anew")
    return {name: Declaration.of(facts, f"{place}, {name}") for name, facts in told.items()}
