"""What is submitted to a ledger: a batch of nodes with precedence, checked before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.jit import kernel
from thzsync.ordering import topological_order
from thzsync.transfers.precedence import JOIN, MOST_CARRIERS


@kernel
def rows_of(before: IntArray, after: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Pairs as rows of successors, each in the order of the pairs: row starts and entries."""
    start = np.zeros(count + 1, dtype=np.int64)
    for k in before:
        start[k + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    place, rows = start.copy(), np.empty(len(after), dtype=np.int64)
    for e in range(len(after)):
        rows[place[before[e]]] = after[e]
        place[before[e]] += 1
    return start, rows


@dataclass(frozen=True)
class ChunkBatch:
    """Nodes 0..n-1 of one batch, as parallel arrays.

    ``flow`` names the round-robin unit (from 0, within the batch; one source rack per flow).
    Successors of node k are ``succ[succ_ptr[k]:succ_ptr[k + 1]]``. ``src``, ``dst``,
    ``size_bytes`` and ``flow`` matter for wired and external nodes, ``release_ps`` for timers.
    """

    kind: IntArray
    src: IntArray
    dst: IntArray
    size_bytes: IntArray
    flow: IntArray
    succ_ptr: IntArray
    succ: IntArray
    release_ps: IntArray
    notify: BoolArray

    def __len__(self) -> int:
        return len(self.kind)

    @staticmethod
    def build(
        kind: Any,
        src: Any = 0,
        dst: Any = 0,
        size_bytes: Any = 0,
        flow: Any = 0,
        *,
        before: Any = (),
        after: Any = (),
        release_ps: Any = 0,
        notify: Any = False,
    ) -> ChunkBatch:
        """A batch from scalars or arrays; node ``before[k]`` must finish ahead of ``after[k]``."""
        kinds = np.atleast_1d(np.asarray(kind, dtype=np.int64))
        n = max(len(np.atleast_1d(np.asarray(x))) for x in (kinds, src, dst, size_bytes, flow))
        heads = np.asarray(before, dtype=np.int64)
        tails = np.asarray(after, dtype=np.int64)
        if len(heads) != len(tails) or (
            len(heads) and not (_within(heads, n) and _within(tails, n))
        ):
            raise ThzSyncError(f"batch: precedence must join nodes 0..{n - 1} in pairs")
        ptr, succ = rows_of(np.ascontiguousarray(heads), np.ascontiguousarray(tails), n)

        def column(x: Any) -> IntArray:
            return np.ascontiguousarray(np.broadcast_to(np.asarray(x, dtype=np.int64), (n,)))

        return ChunkBatch(
            kind=column(kinds),
            src=column(src),
            dst=column(dst),
            size_bytes=column(size_bytes),
            flow=column(flow),
            succ_ptr=ptr,
            succ=succ,
            release_ps=column(release_ps),
            notify=np.broadcast_to(np.asarray(notify, dtype=np.bool_), (n,)).copy(),
        )

    @property
    def predecessors(self) -> IntArray:
        """How many nodes must finish before each node."""
        return np.bincount(self.succ, minlength=len(self)).astype(np.int64)


def _within(x: AnyArray, n: int) -> bool:
    return bool(x.min() >= 0 and x.max() < n)


def check_precedence(batch: ChunkBatch) -> None:
    """Refuse what could never run; raises `ThzSyncError`."""
    if len(batch) == 0:
        raise ThzSyncError("batch: it holds no nodes; submit at least one")
    if batch.kind.min() < JOIN or batch.kind.max() >= MOST_CARRIERS:
        raise ThzSyncError(f"batch: kinds must be a carrier below {MOST_CARRIERS}, TIMER or JOIN")
    # A circle shows in the reversed graph as well, and successors are at hand.
    if len(batch.succ) and len(topological_order(batch.succ_ptr, batch.succ)) < len(batch):
        stuck = _waiting_for_itself(batch)
        raise ThzSyncError(
            f"batch: node {stuck} (flow {batch.flow[stuck]}) waits for itself through its "
            f"predecessors; remove the circle"
        )


def _waiting_for_itself(batch: ChunkBatch) -> int:
    before = np.repeat(np.arange(len(batch)), np.diff(batch.succ_ptr))
    start = np.concatenate(([0], np.cumsum(batch.predecessors)))
    order = topological_order(start, before[np.argsort(batch.succ, kind="stable")])
    return int(np.setdiff1d(np.arange(len(batch)), order)[0])
