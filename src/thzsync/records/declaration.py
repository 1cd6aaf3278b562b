"""What a discipline declares of its transmissions: the auditor checks that records keep to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
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


def read_declarations(told: object, place: str) -> dict[str, Declaration] | None:
    """The declarations of a record by discipline; None where it has none, as until version 0.3."""
    if told is None:
        return None
    if not isinstance(told, dict) or not all(isinstance(d, dict) for d in told.values()):
        raise ThzSyncError(f"{place}: disciplines are damaged; record the run anew")
    return {name: Declaration.of(facts, f"{place}, {name}") for name, facts in told.items()}
