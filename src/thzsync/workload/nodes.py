"""The nodes of a training graph: compute tasks and communication events."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.errors import ThzSyncError


class Phase(StrEnum):
    """The half of an iteration that a node belongs to."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, eq=False)
class Compute:
    """Work of racks in lockstep, or of one rank, as the trace says."""

    id: int
    job: str
    stage: int
    phase: Phase
    microbatch: int
    racks: IntArray
    """Racks that compute, ascending."""
    duration_s: float
    after: tuple[int, ...]
    """Nodes that must be done before this one starts."""
    rank: int | None = None
    """The rank that computes, if several share a rack; None if whole racks compute."""

    @property
    def name(self) -> str:
        """What messages call this node."""
        return (
            f"compute {self.id} ({self.phase}, stage {self.stage}, micro-batch {self.microbatch})"
        )

    def check(self, place: str) -> None:
        """Refuse a duration that is negative or not a number."""
        _check_seconds(self.duration_s, "duration", place)


@dataclass(frozen=True, eq=False)
class Event:
    """One collective e = (tau_e, V_e, D_e, r_e, Pred(e)) (eq:communication_event)."""

    id: int
    job: str
    kind: str
    """Name of the collective."""
    stage: int
    """The stage that sends (P2P) or takes part (A2A, AllReduce)."""
    phase: Phase
    microbatch: int
    """The micro-batch whose compute releases the event."""
    label: str
    """What the event sends, such as ``dispatch 0`` or ``bucket 3``."""
    racks: IntArray
    """Participating racks V_e, ascending."""
    demand: Demand
    after: tuple[int, ...]
    """Nodes that must be done before this one starts."""
    release_s: float = 0.0
    """Nominal release r_e after the iteration's start; the event starts no earlier [s]."""

    @property
    def name(self) -> str:
        """What messages call this node."""
        return (
            f"event {self.id} ({self.kind} {self.label}, stage {self.stage}, "
            f"micro-batch {self.microbatch})"
        )

    @property
    def payload_bytes(self) -> int:
        """Directed demand of a transfer, or size of the tensor [bytes]."""
        return self.demand.payload_bytes

    @cached_property
    def measured_bytes(self) -> tuple[float, float]:
        """Bytes that the algorithm bandwidth and the bus bandwidth count."""
        return find_collective(self.kind).measured_bytes(self.demand, self.racks)

    def check(self, place: str) -> None:
        """Refuse a demand that does not fit the kind or the racks."""
        _check_seconds(self.release_s, "release", place)
        find_collective(self.kind).check(self.demand, place, self.racks)


Node = Compute | Event


def _check_seconds(value: float, what: str, place: str) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ThzSyncError(f"{place}: {what} is {value:g} s; it must be 0 s or more")
