"""The ledger: what every chunk waits for, who owns it, when it was ready and when it arrived.

It is the only place that knows any of this. Carriers tell it what has arrived and have chunks moved
from one owner to another; dependencies cross fabrics without either knowing of the other. The
packet fabric runs the ledger's kernels inside its own; alone, the ledger is a clock without a
fibre. A call that is refused changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.transfers import precedence as pre
from thzsync.transfers.batch import ChunkBatch, check_precedence
from thzsync.transfers.pools import Runs, doubled, zero_rows


class Reports(NamedTuple):
    """What happened at one instant [ps], in order: ``what`` is READY or DONE."""

    at_ps: int
    node: IntArray
    what: IntArray


class Deliveries(NamedTuple):
    """Per node: when it completed, first began to leave its rack, became ready [ps]; -1 if not."""

    arrival_ps: IntArray
    start_ps: IntArray
    ready_ps: IntArray
    landing_ps: IntArray
    """When its last train began to arrive; the arrival itself where there are no trains."""


_NONE = np.zeros(0, dtype=np.int64)
NOTHING = Reports(0, _NONE, _NONE)


class Ledger:
    """Batches of nodes under one clock; node numbers are valid until their batch is retired."""

    def __init__(self) -> None:
        self.clock = np.zeros(pre.CLOCK_COLUMNS, dtype=np.int64)
        self.task = zero_rows(1024, pre.TASK_COLUMNS)
        self.edge = np.zeros(1024, dtype=np.int64)
        self.slots = zero_rows(2048, pre.SLOT_COLUMNS)
        self._nodes = Runs(len(self.task))
        self._edges = Runs(len(self.edge))
        self._batches: dict[int, tuple[int, int, int]] = {}

    @property
    def now_ps(self) -> int:
        """The current instant [ps]."""
        return self.clock.item(pre.NOW)

    @property
    def nbytes(self) -> int:
        """Memory of the arrays [bytes]."""
        return self.clock.nbytes + self.task.nbytes + self.edge.nbytes + self.slots.nbytes

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add a batch whose first nodes become ready at ``at_ps``; the number of its node 0."""
        base = self.enter(batch, at_ps)
        self.begin(base, at_ps)
        return base

    def enter(self, batch: ChunkBatch, at_ps: int) -> int:
        """Write a batch down without starting it."""
        if at_ps < self.now_ps:
            raise ThzSyncError(f"submit: at_ps is {at_ps}, before now ({self.now_ps} ps)")
        check_precedence(batch)
        base = self._take_nodes(len(batch))
        edges = self._take_edges(len(batch.succ))
        self._batches[base] = (len(batch), edges, len(batch.succ))
        pre.enter(
            self.task, self.edge, edges, batch.kind, batch.succ_ptr, batch.succ, batch.release_ps,
            batch.notify, base,
        )  # fmt: skip
        return base

    def begin(self, base: int, at_ps: int) -> None:
        """Start a batch that was written down."""
        pre.begin(self.clock, self.task, self.slots, base, self._batches[base][0], at_ps)

    def advance(self, until_ps: int) -> Reports:
        """Without a fibre: run to the first instant with something to report, and report it."""
        pre.run_clock(self.clock, self.task, self.edge, self.slots, until_ps)
        return self.reports()

    def reports(self) -> Reports:
        """Take what has been reported at this instant."""
        count = self.clock.item(pre.REPORTS)
        if count == 0:
            return NOTHING
        self.clock[pre.REPORTS] = 0
        reported = self.slots[:count, pre.R_NODE : pre.R_WHAT + 1].T.copy()
        return Reports(self.now_ps, reported[0], reported[1])

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air that were reported ready have arrived."""
        self.check_now(at_ps, "complete")
        bad = pre.complete(self.clock, self.task, self.slots, nodes)
        if bad >= 0:
            raise ThzSyncError(
                f"complete: node {nodes[bad]} is not a ready, unfinished chunk of the air"
            )

    def to_fibre(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks of the air, ready or not, belong to the fibre from now on."""
        self.check_now(at_ps, "to_fibre")
        bad = pre.to_fibre(self.clock, self.task, self.slots, nodes)
        if bad >= 0:
            raise ThzSyncError(f"to_fibre: node {nodes[bad]} is not an unfinished chunk of the air")

    def on_air(self, base: int, count: int) -> BoolArray:
        """Which of the nodes ``base .. base + count - 1`` the air owns."""
        on_air: BoolArray = self.task[base : base + count, pre.OWNER] == pre.AIR
        return on_air

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes ``base .. base + count - 1`` completed, started and became ready [ps]."""
        task = self.task[base : base + count]
        start_ps = np.where(task[:, pre.OWNER] <= pre.AIR, task[:, pre.START_AT], -1)
        done_ps = task[:, pre.DONE_AT].copy()
        return Deliveries(done_ps, start_ps, task[:, pre.READY_AT].copy(), done_ps)

    def retire(self, base: int) -> None:
        """Forget a finished batch; its node numbers may be used again."""
        if base not in self._batches:
            raise ThzSyncError(f"retire: no batch starts at node {base}; it may be retired already")
        count, edges, n_edges = self._batches[base]
        left = int(np.count_nonzero(self.task[base : base + count, pre.DONE_AT] < 0))
        if left or self.clock[pre.WORK]:
            raise ThzSyncError(
                f"retire: {left} nodes of batch {base} are unfinished; advance first"
            )
        del self._batches[base]
        self._nodes.give(base, count)
        self._edges.give(edges, n_edges)

    def check_now(self, at_ps: int, what: str) -> None:
        """Refuse a caller whose clock is not this one."""
        if at_ps != self.now_ps:
            raise ThzSyncError(
                f"{what}: at_ps is {at_ps} but now is {self.now_ps} ps; advance first"
            )

    def _take_nodes(self, count: int) -> int:
        start = self._nodes.take(count)
        while start is None:
            self.task = doubled(self.task, 2 * self._nodes.capacity)
            self.slots = doubled(self.slots, 2 * len(self.task))
            self._nodes.grow(len(self.task))
            start = self._nodes.take(count)
        return start

    def _take_edges(self, count: int) -> int:
        start = self._edges.take(count)
        while start is None:
            self.edge = doubled(self.edge, 2 * self._edges.capacity)
            self._edges.grow(len(self.edge))
            start = self._edges.take(count)
        return start
