"""The interface of both fabrics of fibres: batches come in, nodes change owners, rates change.

Behind it a fabric is a tuple of arrays and the kernels that know their columns. The packet fabric
and the flow fabric differ in these and in nothing else.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.carriers import FIBRE
from thzsync.errors import ThzSyncError
from thzsync.jit.held import hold
from thzsync.network import Network
from thzsync.optical import layout as c
from thzsync.optical.chunks import check_chunks
from thzsync.optical.flow_layout import State as FlowState
from thzsync.optical.layout import State as PacketState
from thzsync.optical.lists import add_rows
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import NOTHING, Deliveries, Ledger, Reports
from thzsync.transfers.pools import Runs, doubled

_EMPTY_FLOW = (-1, -1, -1, 0, 0, 0, 0, 0)


class LinkBytes(NamedTuple):
    """Bytes carried so far by every link."""

    foreground: IntArray
    background: IntArray


class Kernels(Protocol):
    """Kernels that both fabrics have, each for its own arrays."""

    def leave_fibre(self, st: Any, nodes: IntArray, carrier: int, accepted: BoolArray) -> None:
        """Give nodes to another carrier; the mask gets which."""
        ...

    def set_rate(self, st: Any, ln: int, rate_bps: int) -> None:
        """Change a link's rate."""
        ...

    def occupancy(
        self, st: Any, first: IntArray, rack: IntArray, chosen: IntArray, queued: IntArray,
        fraction: FloatArray,
    ) -> None:  # fmt: skip
        """Work out the occupancy of wired paths."""
        ...


S = TypeVar("S", PacketState, FlowState)
"""Arrays of a fabric."""


class BaseFabric(Generic[S]):
    """A fabric as its users see it; time only moves in ``advance``."""

    kernels: Kernels

    def __init__(self, network: Network, ledger: Ledger, state: S) -> None:
        self.network, self.ledger = network, ledger
        self._st: S = state
        self._last_held: Any = hold(state)
        self._flows = Runs(len(state.flow))
        self._taken: dict[int, tuple[int, int]] = {}

    def advance(self, until_ps: int) -> Reports:
        """Run to the first instant up to ``until_ps`` with something to report, and report it.

        All events of that instant are finished. Without anything to report, now is ``until_ps``.
        """
        raise NotImplementedError

    def link_bytes(self) -> LinkBytes:
        """Bytes carried by every link up to now, foreground and background apart."""
        raise NotImplementedError

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, flow: int) -> None:
        """Fill the rows of a batch's nodes, whose flows begin at ``flow``."""
        carried = batch.kind >= FIBRE
        network = self.network
        number = np.arange(len(batch)) if network.sprayed else batch.flow
        src, dst = batch.src * carried, batch.dst * carried
        chosen = network.flow_hash(src, dst, number)
        node[:, c.UP] = network.first_links(src, dst, chosen)
        node[:, c.RACK] = dst
        node[:, c.HASH] = chosen
        node[:, c.BYTES] = batch.size_bytes
        node[:, c.SENT] = 0
        node[:, c.N_NEXT] = -1
        node[:, c.FLOW] = flow + batch.flow
        if network.ports > 1:  # the chunks of a flow may leave by several links
            port = node[:, c.UP] - network.first_uplink[src]
            node[:, c.FLOW] = flow + network.ports * batch.flow + port

    @property
    def now_ps(self) -> int:
        """The current instant [ps]."""
        return self.ledger.now_ps

    @property
    def state_bytes(self) -> int:
        """Memory held by the kernels' arrays [bytes]."""
        return sum(array.nbytes for array in self._st)

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add a batch whose first nodes become ready at ``at_ps``; the number of its node 0."""
        check_chunks(batch, self.network)
        base = self.ledger.enter(batch, at_ps)
        carried = batch.kind >= FIBRE
        flows = int(batch.flow[carried].max()) + 1 if carried.any() else 0
        flows *= self.network.ports
        flow = self._take_flows(flows)
        self._taken[base] = (flow, flows)
        self._st = self._with_ledger()
        self._st.flow[flow : flow + flows] = _EMPTY_FLOW
        self._write_nodes(self._st.node[base : base + len(batch)], batch, flow)
        self.ledger.begin(base, at_ps)
        return base

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of other carriers that were reported ready have arrived."""
        self.ledger.complete(nodes, at_ps)

    def move(self, nodes: IntArray, source: int, target: int, at_ps: int) -> BoolArray:
        """Nodes of one carrier belong to another from now on; the mask says which ones do.

        From fibre, these are the ones of which nothing has begun to leave the rack. ``advance``
        reports READY those that were ready.
        """
        own = _numbers(nodes)
        if source != FIBRE:
            return self.ledger.move(own, source, target, at_ps)
        self.ledger.check_now(at_ps, "move")
        accepted = np.zeros(len(own), dtype=np.bool_)
        self.kernels.leave_fibre(self._held, own, target, accepted)
        return accepted

    def set_rate(self, link: int, rate_bps: float, at_ps: int) -> None:
        """Change a link's rate [bit/s] for what starts from now on; 0 takes it down.

        What is in service finishes at its old rate: it is on the fibre already.
        """
        self.ledger.check_now(at_ps, "set_rate")
        if not 0 <= link < self.network.links or self.network.rate_bps[link] == 0:
            raise ThzSyncError(
                f"set_rate: link {link} does not exist; use 0..{self.network.links - 1}"
            )
        if not 0 <= rate_bps < 1e15:
            raise ThzSyncError(f"set_rate: rate is {rate_bps}; use 0 (down) to 1 Pbit/s")
        self.kernels.set_rate(self._held, int(link), round(rate_bps))

    def occupancy(self, src: Any, dst: Any) -> tuple[IntArray, FloatArray]:
        """Bytes queued along wired paths, and the fullest shared buffer on each as a fraction.

        These are Q and U of eq:bandit_flow_context. What is sent counts in a queue from the moment
        its room is reserved until its last bit has left.
        """
        sources, targets = _numbers(src), _numbers(dst)
        queued = np.zeros(len(sources), dtype=np.int64)
        fraction = np.zeros(len(sources), dtype=np.float64)
        network, last = self.network, self.network.racks - 1
        for racks in (sources, targets):
            if len(racks) and not 0 <= racks.min() <= racks.max() <= last:
                raise ThzSyncError(f"occupancy: some rack does not exist; use 0..{last}")
        chosen = network.flow_hash(sources, targets, np.zeros_like(sources))
        first = network.first_links(sources, targets, chosen)
        self.kernels.occupancy(self._held, first, targets, chosen, queued, fraction)
        return queued, fraction

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes ``base .. base + count - 1`` completed, started and became ready [ps]."""
        return self.ledger.finished(base, count)

    def retire(self, base: int) -> None:
        """Forget a finished batch; its node numbers may be used again."""
        self.ledger.retire(base)
        self._flows.give(*self._taken.pop(base))

    @property
    def _held(self) -> S:
        """The arrays as kernels take them."""
        if self._last_held.arrays is not self._st:
            self._last_held = hold(self._st)
        held: S = self._last_held
        return held

    def _reports(self, until_ps: int) -> Reports:
        """What the ledger has to report after an ``advance``."""
        reports = self.ledger.reports()
        if reports is NOTHING and until_ps < self.now_ps:
            raise ThzSyncError(f"advance: until_ps is {until_ps}, before now ({self.now_ps} ps)")
        return reports

    def _with_ledger(self) -> S:
        """The state with the ledger's arrays as they are now, and as many nodes as it has."""
        ledger, st = self.ledger, self._st
        if st.task is ledger.task and st.edge is ledger.edge:
            return st
        node = st.node if len(st.node) == len(ledger.task) else doubled(st.node, len(ledger.task))
        return st._replace(
            clock=ledger.clock, task=ledger.task, edge=ledger.edge, slots=ledger.slots, node=node
        )

    def _add_packets(self) -> None:
        """Double the pool of packets."""
        rows = len(self._st.pkt)
        pkt = doubled(self._st.pkt, 2 * rows)
        add_rows(self._st.ctl, pkt, rows)
        self._st = self._st._replace(pkt=pkt)

    def _take_flows(self, count: int) -> int:
        start = self._flows.take(count)
        while start is None:
            flow = doubled(self._st.flow, 2 * self._flows.capacity)
            self._st = self._st._replace(flow=flow)
            self._flows.grow(len(flow))
            start = self._flows.take(count)
        return start


def _numbers(nodes: Any) -> IntArray:
    return np.atleast_1d(np.asarray(nodes, dtype=np.int64))
