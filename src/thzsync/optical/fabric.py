"""The optical fabric: it carries the chunks that a ledger gives to the fibre, packet by packet."""

from __future__ import annotations

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.optical import control, kernel
from thzsync.optical import layout as c
from thzsync.optical.background import Background
from thzsync.optical.base import BaseFabric, LinkBytes
from thzsync.optical.layout import State
from thzsync.optical.lowering import BurstClock, lower
from thzsync.transfers.ledger import Ledger, Reports
from thzsync.transfers.pools import doubled


class OpticalFabric(BaseFabric[State]):
    """Runs batches of chunks over a `Network`; time only moves in `advance`.

    All precedence is the ledger's; here a chunk has packets. ``trains=False`` gives every packet
    its own event, and ``trace=True`` records every packet on every link; neither changes a result.
    ``names`` and ``from_ps`` are for a part of a larger network: see `BurstClock`.
    """

    kernels = control

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        trains: bool = True,
        trace: bool = False,
        names: IntArray | None = None,
        from_ps: int = 0,
    ) -> None:
        if background is not None and background.load == 0:
            background = None
        self._bursts: BurstClock | None = None
        if background is not None:
            _check_background(network, background)
            self._bursts = BurstClock(network, background, seed_key, names, from_ps)
        ledger = Ledger()
        state = lower(network, background, ledger, trains=trains, trace=trace)
        super().__init__(network, ledger, state)

    @property
    def packet_hops(self) -> int:
        """Packets that have passed a link so far, background included."""
        control.look_at_all(self._held)
        return int(self._st.ctl[c.HOPS])

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
            self._add_packets()
        elif need == c.NEED_TRACE:
            rows = int(st.ctl[c.TRACED]) + 2 * len(st.pkt)
            self._st = st._replace(trace=doubled(st.trace, rows))
        elif self._bursts is not None:
            self._bursts.refill(st)


def _check_background(network: Network, background: Background) -> None:
    packet = min(background.burst_bytes, network.packet_bytes)
    room = min(network.buffers.output_queue_bytes, network.passing_bytes)
    if packet > room:
        raise ThzSyncError(
            f"background: its packets have {packet} bytes but a switch output holds {room}; "
            f"use smaller bursts or larger buffers"
        )
