"""The optical fabric: it carries the chunks that a ledger gives to the fibre, packet by packet."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.optical import control, kernel
from thzsync.optical import layout as c
from thzsync.optical.background import Background
from thzsync.optical.chunks import check_chunks
from thzsync.optical.layout import State
from thzsync.optical.lowering import BurstClock, chain, lower
from thzsync.optical.network import Network
from thzsync.optical.nodes import take_fresh
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import NOTHING, Deliveries, Ledger, Reports
from thzsync.transfers.pools import Runs, doubled
from thzsync.transfers.precedence import AIR, FRESH, NOW


class LinkBytes(NamedTuple):
    """Bytes carried so far by every link."""

    foreground: IntArray
    background: IntArray


class Bursts(Protocol):
    """Whoever supplies the kernel with background."""

    def refill(self, st: State) -> None:
        """Give links that have used up their bursts new ones."""
        ...


class OpticalFabric:
    """Runs batches of chunks over a `Network`; time only moves in `advance`.

    All precedence is the ledger's; here a chunk has packets. ``trains=False`` gives every packet
    its own event, and ``trace=True`` records every packet on every link; neither changes a result.
    """

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        trains: bool = True,
        trace: bool = False,
    ) -> None:
        self.network = network
        self._bursts: Bursts | None = None
        if background is not None and background.load > 0:
            _check_background(network, background)
            self._bursts = BurstClock(network, background, seed_key)
        self.ledger = Ledger()
        self._st = lower(network, background, self.ledger, trains=trains, trace=trace)
        self._flows = Runs(len(self._st.flow))
        self._taken: dict[int, tuple[int, int]] = {}

    def use_bursts(self, bursts: Bursts) -> None:
        """Take the background from somebody else, before time has moved."""
        self._bursts = bursts

    @property
    def now_ps(self) -> int:
        """The current instant [ps]."""
        return self.ledger.now_ps

    @property
    def packet_hops(self) -> int:
        """Packets that have passed a link so far, background included."""
        control.look_at_all(self._st)
        return int(self._st.ctl[c.HOPS])

    @property
    def state_bytes(self) -> int:
        """Memory held by the kernel's arrays [bytes]."""
        return sum(array.nbytes for array in self._st)

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add a batch whose first nodes become ready at ``at_ps``; the number of its node 0."""
        check_chunks(batch, self.network)
        base = self.ledger.enter(batch, at_ps)
        carried = batch.kind <= AIR
        flows = int(batch.flow[carried].max()) + 1 if carried.any() else 0
        flow = self._take_flows(flows)
        self._taken[base] = (flow, flows)
        self._st = self._with_ledger()
        self._st.flow[flow : flow + flows] = (-1, -1, -1, 0)
        self._write_nodes(self._st.node[base : base + len(batch)], batch, flow)
        self.ledger.begin(base, at_ps)
        self._look_again()
        return base

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, flow: int) -> None:
        carried = batch.kind <= AIR
        src, dst = batch.src * carried, batch.dst * carried
        node[:, c.SRC] = src
        node[:, c.FIRST] = self.network.first_hop(src, dst)
        node[:, c.DOWN] = self.network.racks + dst
        node[:, c.BYTES] = batch.size_bytes
        node[:, c.SENT] = 0
        node[:, c.GONE] = 0
        node[:, c.N_NEXT] = -1
        node[:, c.FLOW] = flow + batch.flow

    def _with_ledger(self) -> State:
        """The state with the ledger's arrays as they are now, and as many nodes as it has."""
        ledger, st = self.ledger, self._st
        node = st.node if len(st.node) == len(ledger.task) else doubled(st.node, len(ledger.task))
        return st._replace(
            clock=ledger.clock, task=ledger.task, edge=ledger.edge, slots=ledger.slots, node=node
        )

    def _look_again(self) -> None:
        """Take what became ready, and have the next `advance` look at this instant again."""
        if self.ledger.clock[FRESH]:
            take_fresh(self._st)
        self._st.ctl[c.STAGE] = c.NODES

    def advance(self, until_ps: int) -> Reports:
        """Run to the first instant up to ``until_ps`` with something to report, and report it.

        All events of that instant are finished. Without anything to report, now is ``until_ps``.
        """
        st = self._st
        if st.ctl[c.STAGE] == c.NEXT_INSTANT and until_ps == st.clock[NOW] and self.ledger.silent:
            return NOTHING  # the instant is finished, and nobody has touched anything since
        while True:
            need = kernel.advance(*st, until_ps)
            if need == c.IDLE:
                break
            st = self._provide(need)
        reports = self.ledger.reports()
        if not len(reports.node) and until_ps < self.now_ps:
            raise ThzSyncError(f"advance: until_ps is {until_ps}, before now ({self.now_ps} ps)")
        return reports

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air that were reported ready have arrived."""
        self.ledger.complete(_numbers(nodes), at_ps)
        self._look_again()

    def to_fibre(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air, ready or not, take the fibre from now on."""
        self.ledger.to_fibre(_numbers(nodes), at_ps)
        self._look_again()

    def to_air(self, nodes: IntArray, at_ps: int) -> BoolArray:
        """Chunks of which no packet has begun to leave the rack belong to the air from now on.

        The mask says which ones do; those that were ready are reported READY by `advance`.
        """
        self.ledger.check_now(at_ps, "to_air")
        own = _numbers(nodes)
        accepted = np.zeros(len(own), dtype=np.bool_)
        control.to_air(self._st, own, accepted)
        self._look_again()
        return accepted

    def set_rate(self, link: int, rate_bps: float, at_ps: int) -> None:
        """Change a link's rate [bit/s] for packets that start from now on; 0 takes it down.

        A packet in service finishes at its old rate: it is on the fibre already.
        """
        self.ledger.check_now(at_ps, "set_rate")
        if not 0 <= link < self.network.links or self.network.rate_bps[link] == 0:
            raise ThzSyncError(
                f"set_rate: link {link} does not exist; use 0..{self.network.links - 1}"
            )
        if not 0 <= rate_bps < 1e15:
            raise ThzSyncError(f"set_rate: rate is {rate_bps}; use 0 (down) to 1 Pbit/s")
        control.set_rate(self._st, int(link), round(rate_bps))
        self._look_again()

    def occupancy(self, src: Any, dst: Any) -> tuple[IntArray, FloatArray]:
        """Bytes queued along wired paths, and the fullest shared buffer on each as a fraction.

        These are Q and U of eq:bandit_flow_context. A packet counts in a queue from the moment
        its room is reserved until its last bit has left.
        """
        sources = np.atleast_1d(np.asarray(src, dtype=np.int64))
        targets = np.atleast_1d(np.asarray(dst, dtype=np.int64))
        queued = np.zeros(len(sources), dtype=np.int64)
        fraction = np.zeros(len(sources), dtype=np.float64)
        control.occupancy(self._st, sources, targets, queued, fraction)
        return queued, fraction

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes ``base .. base + count - 1`` completed, started and became ready [ps]."""
        return self.ledger.finished(base, count)

    def retire(self, base: int) -> None:
        """Forget a finished batch; its node numbers may be used again."""
        self.ledger.retire(base)
        self._flows.give(*self._taken.pop(base))

    def link_bytes(self) -> LinkBytes:
        """Bytes carried by every link up to now, foreground and background apart."""
        control.look_at_all(self._st)
        link = self._st.link
        return LinkBytes(link[:, c.CARRIED].copy(), link[:, c.BG_CARRIED].copy())

    def packet_trace(self) -> IntArray:
        """Packets sent: rows of (link, node, bytes left of it, bytes, ready, start, end)."""
        control.look_at_all(self._st)
        return self._st.trace[: self._st.ctl[c.TRACED]].copy()

    def _take_flows(self, count: int) -> int:
        start = self._flows.take(count)
        while start is None:
            flow = doubled(self._st.flow, 2 * self._flows.capacity)
            self._st = self._st._replace(flow=flow)
            self._flows.grow(len(flow))
            start = self._flows.take(count)
        return start

    def _provide(self, need: int) -> State:
        st = self._st
        if need == c.NEED_PACKETS:
            if st.ctl[c.SPARE] <= 0:
                pkt = doubled(st.pkt, 2 * len(st.pkt))
                chain(st.ctl, c.FREE, pkt, len(st.pkt))
                st.ctl[c.SPARE] += len(st.pkt)
                self._st = st = st._replace(pkt=pkt)
            if st.ctl[c.FREE_TICKET] < 0:
                ticket = doubled(st.ticket, 2 * len(st.ticket))
                chain(st.ctl, c.FREE_TICKET, ticket, len(st.ticket))
                admitted = doubled(st.admitted, len(ticket) if st.ctl[c.TRACING] else 1)
                self._st = st._replace(ticket=ticket, admitted=admitted)
        elif need == c.NEED_TRACE:
            rows = int(st.ctl[c.TRACED]) + 2 * (len(st.pkt) + self.network.racks)
            self._st = st._replace(trace=doubled(st.trace, rows))
        elif self._bursts is not None:
            self._bursts.refill(st)
        return self._st


def _numbers(nodes: IntArray) -> IntArray:
    return np.atleast_1d(np.asarray(nodes, dtype=np.int64))


def _check_background(network: Network, background: Background) -> None:
    packet = min(background.burst_bytes, network.packet_bytes)
    room = min(network.output_queue_bytes, network.ring_facing_bytes)
    if network.switches == 1:
        room = min(network.output_queue_bytes, network.shared_buffer_bytes)
    if packet > room:
        raise ThzSyncError(
            f"background: its packets have {packet} bytes but a switch output holds {room}; "
            f"use smaller bursts or larger buffers"
        )
