"""The flow fabric: the packet fabric's flow-level twin with the same interface.

Flows move in trains, a bounded number per flow, so an event's cost does not grow with its bytes.
Sharing, queues, back-pressure and background are those of the packet fabric, train by train.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.network import Network
from thzsync.optical import flow_kernel as kernel
from thzsync.optical import flow_layout as f
from thzsync.optical.background import Background
from thzsync.optical.base import BaseFabric, LinkBytes
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_lowering import lower, train_bytes
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports


class FlowFabric(BaseFabric[State]):
    """Carries batches of nodes over a `Network` in about ``pieces`` trains per flow."""

    kernels = kernel

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        pieces: int = 128,
    ) -> None:
        ledger = Ledger()
        if background is not None and background.load == 0:
            background = None
        super().__init__(network, ledger, lower(network, background, seed_key, ledger))
        self.pieces = pieces

    @property
    def trains_started(self) -> int:
        """Trains that links have begun to send so far, background included."""
        return int(self._st.ctl[f.STARTED])

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, flow: int) -> None:
        super()._write_nodes(node, batch, flow)
        node[:, f.TRAIN] = train_bytes(batch, self.network, self.pieces)
        node[:, f.LANDING] = -1

    def advance(self, until_ps: int) -> Reports:
        """Run train by train to the first instant with something to report, and report it."""
        while kernel.advance(self._held, until_ps) == f.NEED_TRAINS:
            self._add_packets()
        return self._reports(until_ps)

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes completed, started, became ready, and when their last train landed [ps]."""
        landing_ps = self._st.node[base : base + count, f.LANDING].copy()
        return self.ledger.finished(base, count)._replace(landing_ps=landing_ps)

    def link_bytes(self) -> LinkBytes:
        """Bytes of all trains that have passed every link, those in service in part."""
        foreground = np.zeros(self.network.links, dtype=np.int64)
        background = np.zeros(self.network.links, dtype=np.int64)
        kernel.carried(self._held, foreground, background)
        return LinkBytes(foreground, background)
