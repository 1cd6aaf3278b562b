"""The optical fabric: it carries the chunks that a ledger gives to the fibre, packet by packet."""

from __future__ import annotations

from typing import Protocol

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError
from thzsync.optical import control, kernel
from thzsync.optical import layout as c
from thzsync.optical.background import Background
from thzsync.optical.doors import Doors, LinkBytes
from thzsync.optical.layout import State
from thzsync.optical.lowering import BurstClock, chain, lower
from thzsync.optical.network import Network
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Ledger, Reports
from thzsync.transfers.pools import doubled
from thzsync.transfers.precedence import AIR


class Bursts(Protocol):
    """Whoever supplies the kernel with background."""

    def refill(self, st: State) -> None:
        """Give links that have used up their bursts new ones."""
        ...


class OpticalFabric(Doors[State]):
    """Runs batches of chunks over a `Network`; time only moves in `advance`.

    All precedence is the ledger's; here a chunk has packets. ``trains=False`` gives every packet
    its own event, and ``trace=True`` records every packet on every link; neither changes a result.
    """

    kernels = control
    empty_flow = (-1, -1, -1, 0)

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        trains: bool = True,
        trace: bool = False,
    ) -> None:
        self._bursts: Bursts | None = None
        if background is not None and background.load > 0:
            _check_background(network, background)
            self._bursts = BurstClock(network, background, seed_key)
        ledger = Ledger()
        state = lower(network, background, ledger, trains=trains, trace=trace)
        super().__init__(network, ledger, state)

    def use_bursts(self, bursts: Bursts) -> None:
        """Take the background from somebody else, before time has moved."""
        self._bursts = bursts

    @property
    def packet_hops(self) -> int:
        """Packets that have passed a link so far, background included."""
        control.look_at_all(self._held)
        return int(self._st.ctl[c.HOPS])

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

    def advance(self, until_ps: int) -> Reports:
        """Run packet by packet to the first instant with something to report, and report it."""
        while True:
            need = kernel.advance(self._held, until_ps)
            if need == c.IDLE:
                return self._reports(until_ps)
            self._provide(need)

    def link_bytes(self) -> LinkBytes:
        """Bytes of all packets that have passed every link."""
        control.look_at_all(self._held)
        link = self._st.link
        return LinkBytes(link[:, c.CARRIED].copy(), link[:, c.BG_CARRIED].copy())

    def packet_trace(self) -> IntArray:
        """Packets sent: rows of (link, node, bytes left of it, bytes, ready, start, end)."""
        control.look_at_all(self._held)
        return self._st.trace[: self._st.ctl[c.TRACED]].copy()

    def _provide(self, need: int) -> None:
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
