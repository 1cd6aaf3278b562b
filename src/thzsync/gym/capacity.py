"""Sizes of the observation and action spaces, found without simulating the scenario.

They are those of the largest events of one iteration: the methods of the collectives are asked for
their offers. Most methods offer the same number of units whatever the channel and the stragglers.
For others, the user must give the largest number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.collectives import Demand, Tensor
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario, Thz
from thzsync.streams import Streams
from thzsync.synthesis import Offer, Setting, method_of
from thzsync.topology import Topology
from thzsync.workload import Event, scenario_graph


@dataclass(frozen=True)
class Capacity:
    """Sizes of the observation and action spaces."""

    units: int
    """Units of the largest event."""
    senders: int
    """Power groups of the widest event."""
    collectives: tuple[str, ...]
    """Names of all collectives that occur, in the order of their first event."""

    def check(self, decision: int, offer: Offer) -> None:
        """Refuse an event that does not fit into the spaces."""
        if offer.units > self.units or offer.groups > self.senders:
            raise ThzSyncError(
                f"decision {decision}: {offer.kind} has {offer.units} units and {offer.groups} "
                f"senders, but the spaces have {self.units} and {self.senders}; make the "
                f"environment with max_units={max(offer.units, self.units)} or more"
            )


def capacity_of(scenario: Scenario, max_units: int | None = None) -> Capacity:
    """Sizes for all events of a scenario; ``max_units`` is not checked here."""
    events = scenario_graph(scenario, Topology(scenario.floor), Streams(0)).events
    if not events:
        raise ThzSyncError(f"scenario {scenario.name!r} has no event; there is nothing to decide")
    collectives = tuple(dict.fromkeys(event.kind for event in events))
    if max_units is not None:
        at_least(1, max_units, "max_units")
        return Capacity(max_units, max(len(event.racks) for event in events), collectives)
    # Events of one collective, number of racks and size have offers of one size.
    examples = {(e.kind, len(e.racks), _size(e.demand)): e for e in events}.values()
    offers = [_largest_offer(event, scenario) for event in examples]
    units = max(1, *(offer.units for offer in offers))
    senders = max(1, *(offer.groups for offer in offers))
    return Capacity(units, senders, collectives)


def at_least(least: int, given: object, name: str) -> int:
    """``given``, if it is a whole number from ``least`` on; ``name`` is for the message."""
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or given < least:
        raise ThzSyncError(f"{name}: found {given!r}; use a whole number from {least} on")
    return int(given)


def _size(demand: Demand) -> int:
    """What the number of units may depend on: the tensor's bytes, or the number of pairs."""
    return demand.tensor_bytes if isinstance(demand, Tensor) else len(demand.src)


def _largest_offer(event: Event, scenario: Scenario) -> Offer:
    """The offer with most senders; refused if the number of units depends on the setting."""
    method, chunk_bytes = method_of(scenario, event.kind), scenario.collectives.chunk_bytes
    demand = event.demand
    if not isinstance(demand, Tensor):  # a pair without bytes may have some in another iteration
        demand = replace(demand, size_bytes=np.maximum(demand.size_bytes, 1))
    settings = _settings(len(event.racks), scenario.thz)
    offers = [method.offer(demand, event.racks, chunk_bytes, setting) for setting in settings]
    units = sorted({offer.units for offer in offers})
    if len(units) > 1:
        raise ThzSyncError(
            f"{event.kind} method {method.name!r}: its number of units depends on channel and "
            f"stragglers ({' or '.join(map(str, units))} for {len(event.racks)} racks, for "
            "instance); give the largest number with max_units=..."
        )
    return max(offers, key=lambda offer: offer.groups)


def _settings(racks: int, thz: Thz) -> Iterator[Setting]:
    """Settings on which a method's number of units may depend: gains and stragglers vary."""
    place = np.arange(racks)

    def nearer_is_better() -> FloatArray:
        gain = 1e-7 / (1.0 + np.abs(place[:, None] - place)) ** 2
        return np.repeat(gain[:, :, None], thz.subbands, axis=2)

    yield Setting.flat(racks, thz)
    for delays in (0 * place, place == 0, place % 3):
        yield Setting(nearer_is_better, delays * np.float64(1e-4), thz)
