"""Collectives by name: what each asks for and what it promises; packages may add their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives.blocks import Blocks
from thzsync.collectives.demand import Demand, Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.registry import Registry

ENTRY_POINTS: Final = "thzsync.collectives"
"""Entry-point group whose objects are :class:`Collective` instances."""


@dataclass(frozen=True)
class Collective:
    """A communication type tau_e (eq:communication_event) with its pre- and postcondition."""

    name: str
    """Name in events, scenarios and tables."""
    title: str
    """Name for people."""
    demand: type[Transfer] | type[Tensor]
    """What an event of this type asks for."""
    conditions: Callable[[Demand, IntArray], Blocks]
    """Pre- and postcondition of a demand among racks (ascending)."""
    rooted: bool = False
    """Whether the demand names a root."""
    keeps_part: bool = False
    """Whether a rack's buffer also has a part for the rack itself, which the demand leaves out."""
    usual_bytes: int = 512 * 2**20
    """Default tensor, bytes out of each rack, or bytes per flow [bytes]."""

    def check(self, demand: Demand, place: str, racks: IntArray) -> None:
        """Refuse a demand that is not this collective's, or not among these racks."""
        if not isinstance(demand, self.demand):
            raise ThzSyncError(
                f"{place}: {self.name} takes a {self.demand.__name__}; "
                f"found a {type(demand).__name__}"
            )
        if self.rooted and isinstance(demand, Tensor) and demand.root is None:
            raise ThzSyncError(f"{place}: {self.name} needs a root; name one of its racks")
        demand.check(place, racks)

    def blocks(self, demand: Demand, racks: IntArray) -> Blocks:
        """Pre- and postcondition of a checked demand."""
        self.check(demand, f"{self.name} demand", racks)
        return self.conditions(demand, racks)

    def measured_bytes(self, demand: Demand, racks: IntArray) -> tuple[float, float]:
        """Bytes of a checked demand that nccl-tests divides by the time to get its bandwidths.

        The first, for the algorithm bandwidth, is the tensor or the busiest rack's buffer. The
        second, for the bus bandwidth, is what that rack must send or receive.
        """
        if isinstance(demand, Tensor):
            members = racks.astype(np.int64).tobytes()
            return float(demand.tensor_bytes), _tensor_bus_bytes(self, demand, members)
        bus, ranks = self.conditions(demand, racks).bus_bytes, len(racks)
        return (bus * ranks / (ranks - 1) if self.keeps_part and ranks > 1 else bus), bus


@lru_cache(maxsize=1024)
def _tensor_bus_bytes(collective: Collective, demand: Tensor, racks: bytes) -> float:
    """Cached, because every iteration has the same tensors."""
    return collective.blocks(demand, np.frombuffer(racks, dtype=np.int64)).bus_bytes


def register_collective(collective: Collective) -> Collective:
    """Make a collective known by its name, for this process."""
    return COLLECTIVES.register(collective)


def _built_in() -> tuple[Collective, ...]:
    from thzsync.collectives.catalogue import BUILT_IN

    return BUILT_IN


def _check(thing: Any, place: str) -> None:
    if not isinstance(thing, Collective):
        raise ThzSyncError(
            f"{place}: found {type(thing).__name__}; give a thzsync.collectives.Collective"
        )


COLLECTIVES: Final = Registry("collective", ENTRY_POINTS, _built_in, _check, lambda c: c.name)


def collective_names() -> list[str]:
    """Names of all collectives, built-in ones first."""
    return list(COLLECTIVES.known())


def find_collective(name: str) -> Collective:
    """The collective of this name."""
    return COLLECTIVES.find(name)
