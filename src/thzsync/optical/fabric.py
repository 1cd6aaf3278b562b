"""The optical fabric as the joint engine sees it: a chunk-graph executor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.optical import control, kernel
from thzsync.optical import layout as c
from thzsync.optical.background import Background
from thzsync.optical.batch import ChunkBatch, check
from thzsync.optical.layout import EXTERNAL, State
from thzsync.optical.lowering import BurstClock, chain, lower
from thzsync.optical.network import Network
from thzsync.optical.pools import Runs, doubled


class Reports(NamedTuple):
    """What happened at one instant, in order: ``what`` is READY or DONE."""

    time_ps: IntArray
    node: IntArray
    what: IntArray


class Deliveries(NamedTuple):
    """Per node: when it completed, first began to leave its rack, became ready [ps]; -1 if not."""

    arrival_ps: IntArray
    start_ps: IntArray
    ready_ps: IntArray


class LinkBytes(NamedTuple):
    """Bytes carried so far by every link."""

    foreground: IntArray
    background: IntArray


_NONE = np.zeros(0, dtype=np.int64)
_NOTHING = Reports(_NONE, _NONE, _NONE)


class OpticalFabric:
    """Runs batches of chunks over a `Network`; time only moves in `advance`.

    Node numbers are valid until their batch is retired. ``trains=False`` gives every packet its
    own event, and ``trace=True`` records every packet on every link; neither changes any result.
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
        self._bursts: BurstClock | None = None
        if background is not None and background.load > 0:
            _check_background(network, background)
            self._bursts = BurstClock(network, background, seed_key)
        self._st = lower(network, background, trains=trains, trace=trace)
        self._nodes = Runs(len(self._st.node))
        self._edges = Runs(len(self._st.edge))
        self._flows = Runs(len(self._st.flow))
        self._batches: dict[int, tuple[int, int, int, int, int]] = {}

    @property
    def now_ps(self) -> int:
        """The current instant [ps]."""
        return int(self._st.ctl[c.NOW])

    @property
    def packet_hops(self) -> int:
        """Packets that have passed a link so far, background included."""
        control.settle_all(self._st)
        return int(self._st.ctl[c.HOPS])

    @property
    def state_bytes(self) -> int:
        """Memory held by the kernel's arrays [bytes]."""
        return sum(array.nbytes for array in self._st)

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add a batch whose first nodes become ready at ``at_ps``; the number of its node 0."""
        if at_ps < self.now_ps:
            raise ThzSyncError(f"submit: at_ps is {at_ps}, before now ({self.now_ps} ps)")
        check(batch, self.network)
        carried = batch.kind <= EXTERNAL
        flows = int(batch.flow[carried].max()) + 1 if carried.any() else 0
        base = self._take("node", self._nodes, len(batch))
        edges = self._take("edge", self._edges, len(batch.succ))
        flow = self._take("flow", self._flows, flows)
        self._batches[base] = (len(batch), edges, len(batch.succ), flow, flows)
        st = self._st
        st.edge[edges : edges + len(batch.succ)] = batch.succ + base
        st.flow[flow : flow + flows] = (-1, -1, -1, 0)
        self._write_nodes(st.node[base : base + len(batch)], batch, edges, flow)
        control.release(st, base, len(batch), at_ps)
        st.ctl[c.STAGE] = c.NODES
        return base

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, edges: int, flow: int) -> None:
        carried = batch.kind <= EXTERNAL
        src, dst = batch.src * carried, batch.dst * carried
        node[:, c.KIND] = batch.kind
        node[:, c.SRC] = src
        node[:, c.FIRST] = self.network.first_hop(src, dst)
        node[:, c.DOWN] = self.network.racks + dst
        node[:, c.BYTES] = batch.size_bytes
        node[:, c.SENT] = 0
        node[:, c.GONE] = 0
        node[:, c.PENDING] = batch.predecessors
        node[:, c.SUCC_LO] = edges + batch.succ_ptr[:-1]
        node[:, c.SUCC_HI] = edges + batch.succ_ptr[1:]
        node[:, c.FLAGS] = batch.notify * c.NOTIFY
        node[:, c.READY_AT] = -1
        node[:, c.START_AT] = -1
        node[:, c.DONE_AT] = -1
        node[:, c.N_NEXT] = -1
        node[:, c.RELEASE] = np.where(carried, flow + batch.flow, batch.release_ps)

    def advance(self, until_ps: int) -> Reports:
        """Run to the first instant up to ``until_ps`` with something to report, and report it.

        All events of that instant are finished. Without anything to report, now is ``until_ps``.
        """
        st = self._st
        while True:
            need = kernel.advance(*st, until_ps)
            if need == c.IDLE:
                break
            st = self._provide(need)
        count = int(st.ctl[c.REPORTS])
        if count == 0:
            if until_ps < st.ctl[c.NOW]:
                raise ThzSyncError(
                    f"advance: until_ps is {until_ps}, before now ({self.now_ps} ps)"
                )
            return _NOTHING
        st.ctl[c.REPORTS] = 0
        return Reports(
            np.full(count, st.ctl[c.NOW]),
            st.slots[:count, c.R_NODE].copy(),
            st.slots[:count, c.R_WHAT].copy(),
        )

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """External nodes that were reported ready are done now."""
        bad = control.complete(self._st, self._own(nodes, at_ps, "complete"))
        if bad >= 0:
            raise ThzSyncError(f"complete: node {bad} is not a ready, unfinished external node")

    def to_wired(self, nodes: IntArray, at_ps: int) -> None:
        """External nodes, ready or not, take the fibre from now on."""
        bad = control.to_wired(self._st, self._own(nodes, at_ps, "to_wired"))
        if bad >= 0:
            raise ThzSyncError(f"to_wired: node {bad} is not an unfinished external node")

    def to_external(self, nodes: IntArray, at_ps: int) -> BoolArray:
        """Wired nodes of which no packet has begun to leave the rack become external.

        The mask says which ones did; those that were ready are reported READY by `advance`.
        """
        own = self._own(nodes, at_ps, "to_external")
        accepted = np.zeros(len(own), dtype=np.bool_)
        control.to_external(self._st, own, accepted)
        return accepted

    def set_rate(self, link: int, rate_bps: float, at_ps: int) -> None:
        """Change a link's rate [bit/s] for packets that start from now on; 0 takes it down.

        A packet in service finishes at its old rate: it is on the fibre already.
        """
        self._own(_NONE, at_ps, "set_rate")
        if not 0 <= link < self.network.links or self.network.rate_bps[link] == 0:
            raise ThzSyncError(
                f"set_rate: link {link} does not exist; use 0..{self.network.links - 1}"
            )
        if not 0 <= rate_bps < 1e15:
            raise ThzSyncError(f"set_rate: rate is {rate_bps}; use 0 (down) to 1 Pbit/s")
        control.set_rate(self._st, int(link), round(rate_bps))

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
        node = self._st.node[base : base + count]
        times = (node[:, k].copy() for k in (c.DONE_AT, c.START_AT, c.READY_AT))
        return Deliveries(*times)

    def retire(self, base: int) -> None:
        """Forget a finished batch; its node numbers may be used again."""
        if base not in self._batches:
            raise ThzSyncError(f"retire: no batch starts at node {base}; it may be retired already")
        count, edges, n_edges, flow, flows = self._batches[base]
        left = int(np.count_nonzero(self._st.node[base : base + count, c.DONE_AT] < 0))
        if left or self._st.ctl[c.STAGE] != c.NEXT_INSTANT:
            raise ThzSyncError(
                f"retire: {left} nodes of batch {base} are unfinished; advance first"
            )
        del self._batches[base]
        self._nodes.give(base, count)
        self._edges.give(edges, n_edges)
        self._flows.give(flow, flows)

    def link_bytes(self) -> LinkBytes:
        """Bytes carried by every link up to now, foreground and background apart."""
        control.settle_all(self._st)
        link = self._st.link
        return LinkBytes(link[:, c.CARRIED].copy(), link[:, c.BG_CARRIED].copy())

    def packet_trace(self) -> IntArray:
        """Packets sent: rows of (link, node, bytes left of it, bytes, ready, start, end)."""
        control.settle_all(self._st)
        return self._st.trace[: self._st.ctl[c.TRACED]].copy()

    def _own(self, nodes: IntArray, at_ps: int, what: str) -> IntArray:
        """Check the caller's clock, and have the next `advance` look at this instant again."""
        if at_ps != self.now_ps:
            raise ThzSyncError(
                f"{what}: at_ps is {at_ps} but now is {self.now_ps} ps; advance first"
            )
        self._st.ctl[c.STAGE] = c.NODES
        return np.atleast_1d(np.asarray(nodes, dtype=np.int64))

    def _take(self, name: str, runs: Runs, count: int) -> int:
        start = runs.take(count)
        while start is None:
            larger = doubled(getattr(self._st, name), 2 * runs.capacity)
            self._st = self._st._replace(**{name: larger})
            if name == "node":
                self._st = self._st._replace(slots=doubled(self._st.slots, 2 * len(larger)))
            runs.grow(len(larger))
            start = runs.take(count)
        return start

    def _provide(self, need: int) -> State:
        st = self._st
        if need == c.NEED_PACKETS:
            if st.ctl[c.FREE] < 0:
                pkt = doubled(st.pkt, 2 * len(st.pkt))
                chain(st.ctl, c.FREE, pkt, len(st.pkt))
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
