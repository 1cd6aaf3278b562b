"""The flow fabric: the packet fabric's flow-level twin behind the same doors.

Flows move in trains, a bounded number per flow, so an event's cost does not grow with its bytes.
Sharing, queues, back-pressure and background are those of the packet fabric, train by train.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.optical import flow_kernel as kernel
from thzsync.optical import flow_layout as f
from thzsync.optical.background import Background
from thzsync.optical.chunks import check_chunks
from thzsync.optical.fabric import LinkBytes
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_lowering import chain, lower, train_bytes
from thzsync.optical.flow_racks import take_fresh
from thzsync.optical.network import Network
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports
from thzsync.transfers.pools import Runs, doubled
from thzsync.transfers.precedence import AIR, FRESH


class FlowFabric:
    """Carries batches of nodes over a `Network` in about ``pieces`` trains per flow."""

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        pieces: int = 128,
    ) -> None:
        self.network, self.pieces = network, pieces
        self.ledger = Ledger()
        self._st = lower(network, background, seed_key, self.ledger)
        self._flows = Runs(len(self._st.flow))
        self._taken: dict[int, tuple[int, int]] = {}

    @property
    def now_ps(self) -> int:
        """The current instant [ps]."""
        return self.ledger.now_ps

    @property
    def trains_started(self) -> int:
        """Trains that links have begun to send so far, background included."""
        return int(self._st.ctl[f.STARTED])

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
        self._st.flow[flow : flow + flows] = (-1, -1, -1, 0, 0, 0, 0, 0)
        self._write_nodes(self._st.node[base : base + len(batch)], batch, flow)
        self.ledger.begin(base, at_ps)
        self._take_fresh()
        return base

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, flow: int) -> None:
        carried = batch.kind <= AIR
        src, dst = batch.src * carried, batch.dst * carried
        node[:, f.SRC] = src
        node[:, f.FIRST] = self.network.first_hop(src, dst)
        node[:, f.DOWN] = self.network.racks + dst
        node[:, f.BYTES] = batch.size_bytes
        node[:, f.SENT] = 0
        node[:, f.N_NEXT] = -1
        node[:, f.FLOW] = flow + batch.flow
        node[:, f.TRAIN] = train_bytes(batch, self.network, self.pieces)
        node[:, f.LANDING] = -1

    def _with_ledger(self) -> State:
        ledger, st = self.ledger, self._st
        node = st.node if len(st.node) == len(ledger.task) else doubled(st.node, len(ledger.task))
        return st._replace(
            clock=ledger.clock, task=ledger.task, edge=ledger.edge, slots=ledger.slots, node=node
        )

    def _take_fresh(self) -> None:
        if self.ledger.clock[FRESH]:
            take_fresh(self._st)

    def advance(self, until_ps: int) -> Reports:
        """Run to the first instant up to ``until_ps`` with something to report, and report it."""
        while kernel.advance(*self._st, until_ps) == f.NEED_TRAINS:
            rows = len(self._st.train)
            train = doubled(self._st.train, 2 * rows)
            chain(self._st.ctl, train, rows)
            self._st = self._st._replace(train=train)
        reports = self.ledger.reports()
        if not len(reports.node) and until_ps < self.now_ps:
            raise ThzSyncError(f"advance: until_ps is {until_ps}, before now ({self.now_ps} ps)")
        return reports

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air that were reported ready have arrived."""
        self.ledger.complete(_numbers(nodes), at_ps)
        self._take_fresh()

    def to_fibre(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air, ready or not, take the fibre from now on."""
        self.ledger.to_fibre(_numbers(nodes), at_ps)
        self._take_fresh()

    def to_air(self, nodes: IntArray, at_ps: int) -> BoolArray:
        """Nodes of which nothing has begun to leave the rack belong to the air from now on."""
        self.ledger.check_now(at_ps, "to_air")
        own = _numbers(nodes)
        accepted = np.zeros(len(own), dtype=np.bool_)
        kernel.to_air(self._st, own, accepted)
        return accepted

    def set_rate(self, link: int, rate_bps: float, at_ps: int) -> None:
        """Change a link's rate [bit/s] for trains that start from now on; 0 takes it down."""
        self.ledger.check_now(at_ps, "set_rate")
        if not 0 <= link < self.network.links or self.network.rate_bps[link] == 0:
            raise ThzSyncError(
                f"set_rate: link {link} does not exist; use 0..{self.network.links - 1}"
            )
        if not 0 <= rate_bps < 1e15:
            raise ThzSyncError(f"set_rate: rate is {rate_bps}; use 0 (down) to 1 Pbit/s")
        kernel.set_rate(self._st, int(link), round(rate_bps))

    def occupancy(self, src: Any, dst: Any) -> tuple[IntArray, FloatArray]:
        """Bytes queued along wired paths, and the fullest shared buffer on each as a fraction."""
        sources = np.atleast_1d(np.asarray(src, dtype=np.int64))
        targets = np.atleast_1d(np.asarray(dst, dtype=np.int64))
        queued = np.zeros(len(sources), dtype=np.int64)
        fraction = np.zeros(len(sources), dtype=np.float64)
        kernel.occupancy(self._st, sources, targets, queued, fraction)
        return queued, fraction

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes completed, started, became ready, and when their last train landed [ps]."""
        landing_ps = self._st.node[base : base + count, f.LANDING].copy()
        return self.ledger.finished(base, count)._replace(landing_ps=landing_ps)

    def retire(self, base: int) -> None:
        """Forget a finished batch; its node numbers may be used again."""
        self.ledger.retire(base)
        self._flows.give(*self._taken.pop(base))

    def link_bytes(self) -> LinkBytes:
        """Bytes carried by every link up to now, foreground and background apart."""
        foreground = np.zeros(self.network.links, dtype=np.int64)
        background = np.zeros(self.network.links, dtype=np.int64)
        kernel.carried(self._st, foreground, background)
        return LinkBytes(foreground, background)

    def _take_flows(self, count: int) -> int:
        start = self._flows.take(count)
        while start is None:
            flow = doubled(self._st.flow, 2 * self._flows.capacity)
            self._st = self._st._replace(flow=flow)
            self._flows.grow(len(flow))
            start = self._flows.take(count)
        return start


def _numbers(nodes: IntArray) -> IntArray:
    return np.atleast_1d(np.asarray(nodes, dtype=np.int64))
