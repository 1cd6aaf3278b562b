"""The protocols of carriers: fibre, which has the clock, and those beside it, found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Final, Protocol

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import ChannelModel
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports
from thzsync.wireless import Overlay, Stuck

ENTRY_POINTS: Final = "thzsync.carriers"
"""Entry-point group whose objects are factories of carriers."""


class Fibre(Protocol):
    """The carrier with the clock of the simulation: a packet fabric, or a bare :class:`Ledger`.

    Its own chunks start inside ``advance`` when they are ready.
    """

    @property
    def ledger(self) -> Ledger:
        """Precedence and ownership of all chunks on all carriers."""

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add an event's nodes; return the number of the first."""

    def advance(self, until_ps: int) -> Reports:
        """Run to the next report, or to ``until_ps``."""

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Mark chunks of other carriers as arrived."""

    def move(self, nodes: IntArray, source: int, target: int, at_ps: int) -> BoolArray:
        """Give chunks of one carrier to another; return which ones, from fibre those not begun."""

    def finished(self, base: int, count: int) -> Deliveries:
        """Times at which nodes were ready and arrived."""

    def retire(self, base: int) -> None:
        """Forget a finished event."""


class Sending(Protocol):
    """What a carrier sends of one event from one instant to another."""

    @property
    def number(self) -> int:
        """The event."""

    @property
    def end_ps(self) -> int:
        """When all of it has arrived [ps]."""

    @property
    def energy_j(self) -> float:
        """What it takes [J]."""

    def delivered(self, first: IntArray, base: int) -> IntArray:
        """Numbers of its chunks, where those of flow f begin at ``base + first[f]``."""


class Carrier(Protocol):
    """A carrier without a clock: it returns what starts now, and is told when that ends."""

    @property
    def name(self) -> str:
        """What scenarios and records call it."""

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int) -> None:
        """Add an event's chunks; lower ranks are served first."""

    def ready(self, number: int, rows: IntArray) -> None:
        """Mark chunks as ready to be sent."""

    def dispatch(self, now_ps: int) -> Sequence[Sending]:
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
class Surroundings:
    """What a carrier may be made of."""

    scenario: Scenario
    streams: Streams
    topology: Topology
    channel: ChannelModel


CarrierFactory = Callable[[Surroundings, int], Carrier]
"""Makes a carrier for one run; the number is that of the carrier."""


def _overlay(parts: Surroundings, number: int) -> Overlay:
    scenario, racks = parts.scenario, parts.topology.racks
    return Overlay(scenario.thz, parts.channel, racks, lookahead=in_flows(scenario))


_known: dict[str, CarrierFactory] = {"thz": _overlay}


def register_carrier(name: str, factory: CarrierFactory) -> None:
    """Make a carrier known by its name, for this process."""
    if _known.setdefault(name, factory) is not factory:
        raise ThzSyncError(f"carrier {name!r} exists already; choose another name")


def carrier_names() -> list[str]:
    """Names of all carriers beside fibre, built-in ones first."""
    return [*_known, *sorted(p.name for p in entry_points(group=ENTRY_POINTS))]


def find_carrier(name: str) -> CarrierFactory:
    """The factory of the carrier with this name."""
    if name in _known:
        return _known[name]
    for point in entry_points(group=ENTRY_POINTS, name=name):
        factory: CarrierFactory = point.load()
        return factory
    raise ThzSyncError(f"carrier {name!r} does not exist; use one of {', '.join(carrier_names())}")


def make_carriers(parts: Surroundings) -> tuple[Carrier, ...]:
    """All carriers beside fibre that a scenario names, in its order."""
    names = enumerate(parts.scenario.carriers, 1)
    return tuple(find_carrier(name)(parts, number) for number, name in names)
