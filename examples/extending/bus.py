"""A third carrier: a bus past all racks, on which one of them sends at a time.

The whole carrier is here: what it takes, who goes first, how long that lasts, what it costs, a
policy that uses it, a run, its audit, and a time that can be worked out by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from thzsync.arrays import NEVER_PS, BoolArray, FloatArray, IntArray
from thzsync.auditor import audit
from thzsync.channel import ChannelModel
from thzsync.coordinator import Action, Outcome, Situation
from thzsync.execution.carrier import CarrierKind, Sending, register_carrier
from thzsync.records.declaration import CarrierFacts
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.transfers import TransferGraph
from thzsync.wireless import Stuck

FACTS = CarrierFacts(one_at_a_time=True, rate_bps=200e9, energy_j_per_bit=5e-12)
"""What the auditor holds every run to."""


class Bus:
    """Chunks that are ready wait in a heap: by rank, then older events first."""

    def __init__(self, scenario: Scenario, channel: ChannelModel) -> None:
        self._events: dict[int, tuple[int, TransferGraph]] = {}
        self._ready: list[tuple[int, int, int]] = []
        self._busy = False

    def carries(self, kind: str, src: IntArray, dst: IntArray) -> BoolArray:
        return np.full(len(src), kind in ("p2p", "a2a"))

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int) -> None:
        self._events[number] = rank, graph

    def ready(self, number: int, rows: IntArray) -> None:
        for row in rows.tolist():
            heappush(self._ready, (self._events[number][0], number, row))

    def dispatch(self, now_ps: int) -> list[Sending]:
        if self._busy or not self._ready:
            return []
        _, number, row = heappop(self._ready)
        graph, self._busy = self._events[number][1], True
        flow, chunk = graph.chunk_flow.item(row), graph.chunk_number.item(row)
        size = graph.chunk_sizes.item(row)
        end_ps = now_ps + FACTS.duration_ps(size)
        return [Sending(number, flow, chunk, 1, size, now_ps, end_ps, FACTS.energy_j(size))]

    def finish(self, ended: Sending) -> None:
        self._busy = False

    def withdraw(self, number: int, rows: IntArray) -> None:
        gone = {(number, row) for row in rows.tolist()}
        self._ready = [entry for entry in self._ready if entry[1:] not in gone]
        heapify(self._ready)

    def adopt(self, number: int, rows: IntArray) -> None:
        """Nothing to do: ``ready`` says when they may be sent."""

    def waiting(self) -> list[Stuck]:
        return []  # it never fails, so nothing falls back to fibre

    def next_change_ps(self, now_ps: int) -> int:
        return NEVER_PS  # something starts when a chunk is ready or a sending ends, never else

    def retire(self, number: int) -> None:
        del self._events[number]


BUS = register_carrier(CarrierKind("bus", Bus, FACTS))
SCENARIO = Scenario.preset("tiny").with_(carriers=("thz", "bus"), stragglers__probability=0.0)


@dataclass(frozen=True)
class ByBus:
    """A share of what the bus can carry goes by bus, all else by fibre."""

    share: float
    name: str = "by-bus"

    def decide(self, situation: Situation) -> Action:
        offer = situation.offer
        chunks = np.zeros((offer.units, 2), dtype=np.int64)  # one column for THz, one for the bus
        chunks[:, 1] = np.rint(offer.chunks * self.share) * offer.open_to(2)[:, 1]
        return Action.of(offer, chunks, np.zeros(len(offer.racks)))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


def one_after_another_ps(run: Run, number: int) -> int:
    """How long all chunks of an event take on the bus if it has the bus for itself [ps]."""
    sent = run.tables["sendings"].filter(run.tables["sendings"]["number"] == number)
    return sum(map(FACTS.duration_ps, sent["bytes"].to_list()))


if __name__ == "__main__":
    run = simulate(SCENARIO, ByBus(1.0), iterations=1, references={})
    first = run.events.row(0, named=True)
    print(f"{run.tables['sendings'].height} chunks by bus, audit: {audit(run).ok}")
    print(f"first event: {first['end_ps'] - first['release_ps']} ps")
    print(f"one chunk after another: {one_after_another_ps(run, first['number'])} ps")
