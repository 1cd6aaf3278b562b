"""Carriers beside fibre: their protocol, what they send, and the registry of their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import ChannelModel
from thzsync.errors import ThzSyncError
from thzsync.records.declaration import CarrierFacts
from thzsync.registry import Registry
from thzsync.scenario import Scenario
from thzsync.scenario.base import Model
from thzsync.scenario.fidelity import in_flows
from thzsync.topology import Topology
from thzsync.transfers import TransferGraph
from thzsync.wireless import Overlay, Round, Stuck

ENTRY_POINTS: Final = "thzsync.carriers"
"""Entry-point group whose objects are :class:`CarrierKind` objects."""


@dataclass(frozen=True)
class Sending:
    """Chunks of one flow that follow each other, on their way on a further carrier."""

    number: int
    """The event."""
    flow: int
    first_chunk: int
    chunks: int
    size_bytes: int
    start_ps: int
    end_ps: int
    energy_j: float

    def delivered(self, first: IntArray, base: int) -> IntArray:
        """Numbers of its chunks, where those of flow f begin at ``base + first[f]``."""
        begin = base + int(first[self.flow]) + self.first_chunk
        return np.arange(begin, begin + self.chunks)


class Carrier(Protocol):
    """A carrier without a clock: it returns what starts now, and is told when that ends."""

    def carries(self, kind: str, src: IntArray, dst: IntArray) -> BoolArray:
        """Which flows of a collective it can take, by source and destination rack."""

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int) -> None:
        """Add an event's chunks; lower ranks are served first."""

    def ready(self, number: int, rows: IntArray) -> None:
        """Mark chunks as ready to be sent."""

    def dispatch(self, now_ps: int) -> Sequence[Round | Sending]:
        """Start all that can start."""

    def finish(self, ended: Any) -> None:
        """Note the end of a sending that ``dispatch`` returned."""

    def withdraw(self, number: int, rows: IntArray) -> None:
        """Release chunks that have not been sent."""

    def adopt(self, number: int, rows: IntArray) -> None:
        """Take chunks over."""

    def waiting(self) -> Sequence[Stuck]:
        """Chunks that it cannot carry now, and since when."""

    def next_change_ps(self, now_ps: int) -> int:
        """When something may start without anything else having happened [ps]."""

    def retire(self, number: int) -> None:
        """Forget a finished event."""


@dataclass(frozen=True)
class CarrierKind:
    """A carrier that scenarios may name."""

    name: str
    """What scenarios and records call it."""
    build: Callable[[Scenario, ChannelModel], Carrier]
    """Makes one for a run."""
    facts: CarrierFacts | None = None
    """What it declares of its sendings; None for THz, whose disciplines do."""
    parameters: type[Model] | None = None
    """Model of the section ``[parameters.NAME]``, which ``scenario.parameters_for(kind)`` gives."""


def _overlay(scenario: Scenario, channel: ChannelModel) -> Overlay:
    return Overlay(
        scenario.thz,
        channel,
        scenario.floor.racks,
        lookahead=in_flows(scenario),
        topology=Topology(scenario.floor),
        parameters=scenario.parameters,
    )


_THZ: Final = CarrierKind("thz", _overlay)


def _check(kind: object, place: str) -> None:
    if not isinstance(kind, CarrierKind):
        raise ThzSyncError(f"{place}: {kind!r} is no CarrierKind; wrap the carrier in one")


CARRIERS: Final = Registry("carrier", ENTRY_POINTS, lambda: (_THZ,), _check, lambda k: k.name)


def register_carrier(kind: CarrierKind) -> CarrierKind:
    """Make a carrier known by its name, for this process."""
    return CARRIERS.register(kind)


def find_carrier(name: str) -> CarrierKind:
    """The carrier with this name."""
    return CARRIERS.find(name)


def carrier_facts(scenario: Scenario) -> dict[str, CarrierFacts]:
    """What the further carriers of a scenario declare."""
    kinds = [find_carrier(name) for name in scenario.carriers]
    return {kind.name: kind.facts for kind in kinds if kind.facts is not None}
