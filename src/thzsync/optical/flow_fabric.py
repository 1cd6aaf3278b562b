"""The flow fabric: fibre in flow fidelity, with the interface of the packet fabric.

Flows move in trains of packets, a bounded number per flow, so the cost of an event does not grow
with its bytes. Queues, back-pressure and background work as for packets, train by train.
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
    """Carries batches of nodes over a `Network` in about ``pieces`` trains per flow.

    No background and background of load 0 are the same. More pieces are closer to packets.
    """

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
        """Run to the first instant with something to report, or to ``until_ps``, and report it."""
        while kernel.advance(self._held, until_ps) == f.NEED_TRAINS:
            self._add_packets()
        return self._reports(until_ps)

    def finished(self, base: int, count: int) -> Deliveries:
        """What the ledger knows of nodes, and when their last train arrived [ps]."""
        landing_ps = self._st.node[base : base + count, f.LANDING].copy()
        return self.ledger.finished(base, count)._replace(landing_ps=landing_ps)

    def link_bytes(self) -> LinkBytes:
        """Bytes that every link has carried; of a train in service, the part that has left."""
        foreground = np.zeros(self.network.links, dtype=np.int64)
        background = np.zeros(self.network.links, dtype=np.int64)
        kernel.carried(self._held, foreground, background)
        return LinkBytes(foreground, background)
