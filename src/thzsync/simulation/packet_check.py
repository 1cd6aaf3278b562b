"""The packet-level check of a run in flow fidelity: it carries out some events again.

Of the events that had chunks on fibre a share is drawn, and several of every collective type, so
that errors have intervals (`picking.py`). A replay has the event itself and all that shared a
switch with it while it lasted or held up background that it met, released when they were and
divided as they were between the fabrics; what came by THz comes when it came. What differs is the
fibre.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from thzsync.arrays import NEVER_PS, BoolArray, IntArray, to_ps
from thzsync.execution import Finished, Work
from thzsync.network import Network
from thzsync.optical import Background
from thzsync.optical.flow_window import Window
from thzsync.records.fidelity import Fidelity, Replayed
from thzsync.scenario import FibreDegraded
from thzsync.scenario.fidelity import needs_packets
from thzsync.simulation.picking import Picker
from thzsync.simulation.world import World, background_of
from thzsync.streams import name_key
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.lowering import event_batch
from thzsync.transfers.precedence import AIR, DONE, FIBRE, READY

WARM_UP_SERVICES: Final = 16
"""Times that a queue needs to forget how it began."""


@dataclass(frozen=True, eq=False)
class Carried:
    """What a replay must know of an event that has ended."""

    number: int
    graph: TransferGraph
    switches: frozenset[int]
    release_ps: int
    end_ps: int
    delays_ps: IntArray
    on_air: BoolArray
    arrival_ps: IntArray
    """Arrivals of the chunks that THz carried, in order [ps]."""

    @property
    def on_fibre(self) -> bool:
        """Whether a fibre could have done otherwise."""
        return self.end_ps > self.release_ps and not self.on_air.all()


@dataclass(eq=False)
class _Case:
    """An event to be replayed, and those beside it that have not ended yet."""

    event: Carried
    awaited: set[int]
    beside: list[Carried] = field(default_factory=list)


class PacketCheck:
    """Picks events, keeps what happened beside them, and replays them."""

    def __init__(self, world: World) -> None:
        self._world = world
        key = world.streams.key("background", name_key("witness"))
        self._picker = Picker(world.scenario.optical.replayed_share, key)
        self._active: dict[int, int] = {}
        self._recent: list[Carried] = []
        self._open: list[_Case] = []
        self._replayed: list[Replayed] = []

    def started(self, work: Work) -> None:
        """An event begins."""
        self._active[work.number] = work.release_ps

    def finished(self, done: Finished) -> None:
        """An event has ended."""
        event = self._carried(done)
        del self._active[event.number]
        for case in self._open:
            if event.number in case.awaited:
                case.awaited.remove(event.number)
                case.beside.append(event)
        if event.on_fibre and self._picker.picks(event.graph.kind):
            beside = [e for e in self._recent if self._felt_until(e) > event.release_ps]
            self._open.append(_Case(event, set(self._active), beside))
        oldest = min(self._active.values(), default=event.end_ps)
        self._recent = [e for e in (*self._recent, event) if self._felt_until(e) > oldest]
        for case in [case for case in self._open if not case.awaited]:
            self._open.remove(case)
            self._replay(case)

    def _felt_until(self, event: Carried) -> int:
        """When the background that an event has held up has surely passed [ps]."""
        load = self._world.scenario.optical.background.load
        return event.end_ps + int(load / (1 - load) * (event.end_ps - event.release_ps))

    def fidelity(self, recorded: IntArray) -> Fidelity:
        """What has been found so far of the events with these numbers."""
        scenario = self._world.scenario
        tolerance, reason = scenario.optical.fidelity_tolerance, needs_packets(scenario)
        return Fidelity(tolerance, tuple(sorted(self._replayed)), reason).among(recorded)

    def _carried(self, done: Finished) -> Carried:
        work, network = done.work, self._world.fabric.network
        graph = work.graph
        crossed, _, _ = network.shares(graph.src, graph.dst)
        passed = np.unique(network.to_switch[crossed])
        return Carried(
            work.number,
            graph,
            frozenset(passed[passed >= 0].tolist()),
            work.release_ps,
            done.end_ps,
            work.delays_ps,
            done.on_air,
            done.arrival_ps[done.on_air],
        )

    def _replay(self, case: _Case) -> None:
        event = case.event
        beside = [e for e in case.beside if e.switches & event.switches]
        took_ps = Replay(self._world, event, beside).completion_ps()
        self._replayed.append(
            Replayed(
                event.number,
                event.graph.kind,
                (event.end_ps - event.release_ps) * 1e-9,
                took_ps * 1e-9,
            )
        )


class Replay:
    """One event and those beside it on a window of the packet fabric."""

    def __init__(self, world: World, event: Carried, beside: list[Carried]) -> None:
        events = sorted((event, *beside), key=lambda e: (e.release_ps, e.number))
        switches = np.array(sorted(frozenset().union(*(e.switches for e in events))))
        network, background = world.fabric.network, background_of(world.scenario)
        self._from_ps = max(0, events[0].release_ps - _warm_up_ps(network, background))
        key = world.streams.key("background")
        self._window = Window(network, switches, background, key, self._from_ps)
        self._event, self._join = event, -1
        self._actions = [(e.release_ps - self._from_ps, k, e) for k, e in enumerate(events)]
        self._rates = _rate_changes(world, self._from_ps)
        self._due_ps: dict[int, int] = {}
        self._coming: list[tuple[int, int]] = []

    def completion_ps(self) -> int:
        """How long the event takes [ps]."""
        fabric = self._window.fabric
        while True:
            self._act()
            reports = fabric.advance(self._next_ps())
            for node, what in zip(reports.node.tolist(), reports.what.tolist(), strict=True):
                if what == READY:  # in a slower fibre it may be ready later than it arrived
                    heapq.heappush(self._coming, (max(self._due_ps[node], fabric.now_ps), node))
                elif what == DONE and node == self._join:
                    return fabric.now_ps + self._from_ps - self._event.release_ps

    def _next_ps(self) -> int:
        firsts = [action[0] for action in self._actions[:1]]
        firsts += [change[0] for change in self._rates[:1]]
        firsts += [arrival[0] for arrival in self._coming[:1]]
        return min(firsts, default=NEVER_PS - 1)

    def _act(self) -> None:
        """Do all that is due now: new rates, then THz arrivals, then releases."""
        fabric = self._window.fabric
        now_ps = fabric.now_ps
        while self._rates and self._rates[0][0] <= now_ps:
            _, old, rate_bps = self._rates.pop(0)
            link = self._window.link(old)
            if link is not None:
                fabric.set_rate(link, rate_bps, now_ps)
        here = []
        while self._coming and self._coming[0][0] <= now_ps:
            here.append(heapq.heappop(self._coming)[1])
        if here:
            fabric.complete(np.array(here), now_ps)
        while self._actions and self._actions[0][0] <= now_ps:
            self._release(self._actions.pop(0)[2])

    def _release(self, event: Carried) -> None:
        fabric = self._window.fabric
        at_ps = event.release_ps - self._from_ps
        batch = self._batch(event, at_ps)
        base = fabric.submit(batch, at_ps)
        if event is self._event:
            self._join = base + len(batch) - 1
        arrivals = (event.arrival_ps - self._from_ps).tolist()
        nodes = (base + np.flatnonzero(event.on_air)).tolist()
        self._due_ps |= dict(zip(nodes, arrivals, strict=True))

    def _batch(self, event: Carried, at_ps: int) -> ChunkBatch:
        """The event's chunks as they were divided in the end."""
        batch, chunks = event_batch(event.graph, event.delays_ps, at_ps), len(event.on_air)
        kind, carried = batch.kind.copy(), batch.kind <= AIR
        kind[:chunks] = np.where(event.on_air, AIR, FIBRE)
        src, dst = batch.src.copy(), batch.dst.copy()
        src[carried] = self._window.rack(src[carried])
        dst[carried] = self._window.rack(dst[carried])
        return replace(batch, kind=kind, src=src, dst=dst)


def _warm_up_ps(network: Network, background: Background | None) -> int:
    """How long bursts run alone before a replay, so that it finds them queueing [ps]."""
    if background is None or background.load == 0:
        return 0
    burst_ps = background.load * background.mean_gap_ps(int(network.rate_bps[0]))
    # a queue forgets within some services over (1 - load)^2
    return int(WARM_UP_SERVICES * burst_ps / (1 - background.load) ** 2)


def _rate_changes(world: World, from_ps: int) -> list[tuple[int, int, float]]:
    """Instants of a window at which faults change the rate of a link, and to what [bit/s]."""
    network = world.fabric.network
    faults = [fault for fault in world.scenario.faults if isinstance(fault, FibreDegraded)]
    changes = []
    for fault in faults:
        for edge_s in (fault.start_s, fault.end_s):
            at_ps = to_ps(edge_s)
            acting = [f for f in faults if to_ps(f.start_s) <= at_ps < to_ps(f.end_s)]
            changes += [
                (at_ps - from_ps, link, network.degraded_bps(link, acting))
                for link in network.degraded_links(fault).tolist()
            ]
    return sorted(changes)
