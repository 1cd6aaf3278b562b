"""The flow fabric: the packet fabric's flow-level twin behind the same doors.

Flows move in trains, a bounded number per flow, so an event's cost does not grow with its bytes.
Sharing, queues, back-pressure and background are those of the packet fabric, train by train.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.optical import flow_kernel as kernel
from thzsync.optical import flow_layout as f
from thzsync.optical.background import Background
from thzsync.optical.doors import Doors, LinkBytes
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_lowering import chain, lower, write_nodes
from thzsync.optical.network import Network
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports
from thzsync.transfers.pools import doubled


class FlowFabric(Doors[State]):
    """Carries batches of nodes over a `Network` in about ``pieces`` trains per flow."""

    kernels = kernel
    empty_flow = (-1, -1, -1, 0, 0, 0, 0, 0)

    def __init__(
        self,
        network: Network,
        background: Background | None = None,
        seed_key: int = 0,
        *,
        pieces: int = 128,
    ) -> None:
        ledger = Ledger()
        super().__init__(network, ledger, lower(network, background, seed_key, ledger))
        self.pieces = pieces

    @property
    def trains_started(self) -> int:
        """Trains that links have begun to send so far, background included."""
        return int(self._st.ctl[f.STARTED])

    def _write_nodes(self, node: IntArray, batch: ChunkBatch, flow: int) -> None:
        write_nodes(node, batch, self.network, flow, self.pieces)

    def advance(self, until_ps: int) -> Reports:
        """Run train by train to the first instant with something to report, and report it."""
        while kernel.advance(self._held, until_ps) == f.NEED_TRAINS:
            rows = len(self._st.train)
            train = doubled(self._st.train, 2 * rows)
            chain(self._st.ctl, train, rows)
            self._st = self._st._replace(train=train)
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
