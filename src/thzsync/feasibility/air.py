"""How many rounds and transmissions an iteration would take if THz carried all of it.

In flow fidelity they decide how long a run takes: fibres follow whole runs of chunks, while some
disciplines send every chunk by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from thzsync.scenario import Scenario
from thzsync.synthesis import Setting, find_method, method_names
from thzsync.transfers import TransferGraph
from thzsync.wireless.discipline import find_discipline
from thzsync.workload import Event


class Air(NamedTuple):
    """What the overlay has to form."""

    rounds: float
    transmissions: float


def air_of(events: Iterable[Event], scenario: Scenario) -> Air:
    """The sum over some events; those of one shape and size are alike."""
    known: dict[tuple[object, ...], Air] = {}
    rounds = transmissions = 0.0
    for event in events:
        key = (event.kind, len(event.racks), event.payload_bytes)
        if key not in known:
            known[key] = _air(event, scenario)
        rounds += known[key].rounds
        transmissions += known[key].transmissions
    return Air(rounds, transmissions)


def _air(event: Event, scenario: Scenario) -> Air:
    """Of one event, by what its method plans and its disciplines declare."""
    graph = _all_on_thz(event, scenario)
    width = scenario.thz.chains * len(event.racks) / 2
    rounds = transmissions = 0.0
    for number, name in enumerate(graph.disciplines):
        flows = graph.discipline == number
        discipline = find_discipline(name)
        # Flows that wait for their turn join ready chunks, unless turning costs them nothing.
        joined = graph.bundled | (not discipline.common and not discipline.steers)
        sent = np.where(joined, graph.thz_chunks > 0, graph.thz_chunks)[flows].sum()
        transmissions += float(sent)
        rounds += float(sent) / (width if discipline.common else 1)
    return Air(rounds, transmissions)


def _all_on_thz(event: Event, scenario: Scenario) -> TransferGraph:
    name = scenario.collectives.method(event.kind) or method_names(event.kind)[0]
    setting = Setting.flat(len(event.racks), scenario.thz)
    chunk_bytes = scenario.collectives.chunk_bytes
    offer = find_method(event.kind, name).offer(event.demand, event.racks, chunk_bytes, setting)
    return offer.lower(offer.chunks)
