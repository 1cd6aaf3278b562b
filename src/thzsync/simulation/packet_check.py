"""The packet-level check of a run in flow fidelity: some events are carried out again.

A share of the events with chunks on fibre is picked, and several of every collective type, so that
errors have intervals. A replay contains the event itself and all events that shared a switch with
it at the same time, or that delayed background traffic that it met. Releases, splits and arrivals
by THz are those of the run; only the fibre is simulated packet by packet.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from thzsync.arrays import NEVER_PS, IntArray
from thzsync.carriers import FIBRE
from thzsync.execution import Finished, Work
from thzsync.execution.faults import rate_changes
from thzsync.network import Network
from thzsync.optical import Background
from thzsync.optical.flow_window import Window
from thzsync.records.fidelity import Fidelity, Replayed
from thzsync.scenario.fidelity import needs_packets
from thzsync.simulation.world import World, background_of
from thzsync.streams import name_key
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.lowering import event_batch
from thzsync.transfers.precedence import DONE, READY

WARM_UP_SERVICES: Final = 16
"""Service times after which a queue no longer depends on its initial state."""
LEAST: Final = 4
"""Number of short blocks of a type, whatever the share, so that its error has an interval."""
SHORT: Final = 4
"""Largest number of events in a short block."""


@dataclass(eq=False)
class _Case:
    """An event to replay, and the events at the same time, some of which have not ended."""

    event: Finished
    awaited: set[int]
    beside: list[Finished] = field(default_factory=list)


class PacketCheck:
    """Picks events, keeps those at the same time, and replays them."""

    def __init__(self, world: World) -> None:
        self._world = world
        key = world.streams.key("background", name_key("witness"))
        self._picker = Picker(world.scenario.optical.replayed_share, key)
        self._active: dict[int, int] = {}
        self._recent: list[Finished] = []
        self._open: list[_Case] = []
        self._replayed: list[Replayed] = []

    def started(self, work: Work) -> None:
        """Note that an event has begun."""
        self._active[work.number] = work.release_ps

    def finished(self, event: Finished) -> None:
        """Note that an event has ended; replay what can be replayed."""
        work = event.work
        del self._active[work.number]
        for case in self._open:
            if work.number in case.awaited:
                case.awaited.remove(work.number)
                case.beside.append(event)
        if _depends_on_fibre(event) and self._picker.picks(work.graph.kind):
            beside = [e for e in self._recent if self._felt_until(e) > work.release_ps]
            self._open.append(_Case(event, set(self._active), beside))
        oldest = min(self._active.values(), default=event.end_ps)
        self._recent = [e for e in (*self._recent, event) if self._felt_until(e) > oldest]
        for case in [case for case in self._open if not case.awaited]:
            self._open.remove(case)
            self._replay(case)

    def _felt_until(self, event: Finished) -> int:
        """Time by which the background that an event delayed has certainly passed [ps]."""
        load = self._world.scenario.optical.background.load
        return event.end_ps + int(load / (1 - load) * (event.end_ps - event.work.release_ps))

    def fidelity(self, recorded: IntArray) -> Fidelity:
        """Results so far for the events with these numbers."""
        scenario = self._world.scenario
        tolerance, reason = scenario.optical.fidelity_tolerance, needs_packets(scenario)
        return Fidelity(tolerance, tuple(sorted(self._replayed)), reason).among(recorded)

    def _replay(self, case: _Case) -> None:
        event, network = case.event, self._world.fabric.network
        work, switches = event.work, _switches(event, network)
        beside = [e for e in case.beside if switches & _switches(e, network)]
        took_ms = Replay(self._world, event, beside).completion_ps() * 1e-9
        recorded_ms = (event.end_ps - work.release_ps) * 1e-9
        self._replayed.append(Replayed(work.number, work.graph.kind, recorded_ms, took_ms))


def _depends_on_fibre(event: Finished) -> bool:
    return event.end_ps > event.work.release_ps and bool((event.carrier == FIBRE).any())


def _switches(event: Finished, network: Network) -> set[int]:
    """Switches that an event's flows may pass."""
    links, _, _ = network.shares(event.work.graph.src, event.work.graph.dst)
    passed = np.unique(network.to_switch[links])
    return set(passed[passed >= 0].tolist())


class Replay:
    """One event and those at the same time on a window of the packet fabric."""

    def __init__(self, world: World, event: Finished, beside: list[Finished]) -> None:
        events = sorted((event, *beside), key=lambda e: (e.work.release_ps, e.work.number))
        network, background = world.fabric.network, background_of(world.scenario)
        switches = np.array(sorted(set().union(*(_switches(e, network) for e in events))))
        begin_ps = events[0].work.release_ps
        self._from_ps = max(0, begin_ps - _warm_up_ps(network, background))
        key = world.streams.key("background")
        self._window = Window(network, switches, background, key, self._from_ps)
        self._event, self._join = event, -1
        self._actions = [(e.work.release_ps - self._from_ps, k, e) for k, e in enumerate(events)]
        changes = rate_changes(world.scenario.faults, network)
        self._rates = [(at_ps - self._from_ps, link, bps) for at_ps, link, bps in changes]
        self._due_ps: dict[int, int] = {}
        self._coming: list[tuple[int, int]] = []

    def completion_ps(self) -> int:
        """Completion time of the event [ps]."""
        fabric = self._window.fabric
        while True:
            self._act()
            reports = fabric.advance(self._next_ps())
            for node, what in zip(reports.node.tolist(), reports.what.tolist(), strict=True):
                if what == READY:  # in a slower fibre it may be ready later than it arrived
                    heapq.heappush(self._coming, (max(self._due_ps[node], fabric.now_ps), node))
                elif what == DONE and node == self._join:
                    return fabric.now_ps + self._from_ps - self._event.work.release_ps

    def _next_ps(self) -> int:
        queues: tuple[Sequence[tuple[Any, ...]], ...] = (self._actions, self._rates, self._coming)
        return min((queue[0][0] for queue in queues if queue), default=NEVER_PS - 1)

    def _act(self) -> None:
        """Apply what is due now: new rates, then THz arrivals, then releases."""
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

    def _release(self, event: Finished) -> None:
        fabric = self._window.fabric
        at_ps = event.work.release_ps - self._from_ps
        batch = self._batch(event, at_ps)
        base = fabric.submit(batch, at_ps)
        if event is self._event:
            self._join = base + len(batch) - 1
        elsewhere = np.flatnonzero(event.carrier != FIBRE)
        arrivals = (event.arrival_ps[elsewhere] - self._from_ps).tolist()
        nodes = (base + elsewhere).tolist()
        self._due_ps |= dict(zip(nodes, arrivals, strict=True))

    def _batch(self, event: Finished, at_ps: int) -> ChunkBatch:
        """The event's chunks with their final split."""
        batch = event_batch(event.work.graph, event.work.delays_ps, at_ps)
        kind, carried = batch.kind.copy(), batch.kind >= FIBRE
        kind[: len(event.carrier)] = event.carrier
        src, dst = batch.src.copy(), batch.dst.copy()
        src[carried] = self._window.rack(src[carried])
        dst[carried] = self._window.rack(dst[carried])
        return replace(batch, kind=kind, src=src, dst=dst)


def _warm_up_ps(network: Network, background: Background | None) -> int:
    """Time that bursts run alone before a replay, so that their queues have formed [ps]."""
    if background is None or background.load == 0:
        return 0
    burst_ps = background.load * background.mean_gap_ps(int(network.rate_bps[0]))
    # the relaxation time of a queue is some services over (1 - load)^2
    return int(WARM_UP_SERVICES * burst_ps / (1 - background.load) ** 2)


@dataclass
class _Type:
    """Progress within the events of one type."""

    shown: int = 0
    block: int = -1
    end: int = 0
    pick: int = -1


class Picker:
    """Picks one event of every block of one type; the first blocks are short."""

    def __init__(self, share: float, key: int) -> None:
        self._share, self._key = share, key
        self._types: dict[str, _Type] = {}

    def picks(self, kind: str) -> bool:
        """Whether the next event of this type is picked."""
        if self._share == 0:
            return False
        found = self._types.setdefault(kind, _Type())
        if found.shown == found.end:
            found.block, start = found.block + 1, found.end
            found.end = self._end(found.block)
            draw = np.random.default_rng((self._key, name_key(kind), found.block))
            found.pick = int(draw.integers(start, found.end))
        found.shown += 1
        return found.shown - 1 == found.pick

    def _end(self, block: int) -> int:
        """Number of events up to the end of a block; no block is empty."""
        blocks = block + 1
        return int(blocks / (max(self._share, 1 / SHORT) if blocks <= LEAST else self._share))
