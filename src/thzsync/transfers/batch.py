"""What is submitted to a ledger: a batch of nodes with precedence, checked before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.ordering import topological_order
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.laying import lay_out, rows_of
from thzsync.transfers.precedence import JOIN


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
    if not _within(batch.kind, JOIN + 1):
        raise ThzSyncError("batch: kinds must be FIBRE, AIR, TIMER or JOIN")
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


def event_batch(transfers: TransferGraph, delays_ps: IntArray, release_ps: int) -> ChunkBatch:
    """An event as nodes: all chunks, a timer per late sender, and a join of chunks at the end.

    A late rack that only receives has no timer: it delays nobody.
    """
    plan = transfers
    nodes = Nodes(plan.chunk_flow, plan.chunk_sizes, plan.on_thz, *plan.chunk_edges)
    return batch_of(plan, nodes, delays_ps, release_ps)


class Nodes(NamedTuple):
    """What stands for the chunks of an event: a node each, or a node for several."""

    flow: IntArray
    size_bytes: IntArray
    on_air: BoolArray
    sooner: IntArray
    later: IntArray
    """Which nodes wait for which others."""


def batch_of(plan: TransferGraph, nodes: Nodes, delays_ps: IntArray, release_ps: int) -> ChunkBatch:
    """Nodes for chunks, then a timer per late sender, then the join of all."""
    late = _late(plan, delays_ps)
    chunks = len(nodes.flow)
    join = chunks + len(late)
    columns, succ_ptr, succ = lay_out(
        *nodes, plan.src, plan.dst, _timer_of_flow(plan, late), len(late)
    )
    node_release = np.zeros(join + 1, dtype=np.int64)
    node_release[chunks:join] = release_ps + delays_ps[late]
    notify = np.zeros(join + 1, dtype=np.bool_)
    notify[join] = True
    kind, src, dst, size_bytes, flow = columns
    return ChunkBatch(kind, src, dst, size_bytes, flow, succ_ptr, succ, node_release, notify)


def _late(plan: TransferGraph, delays_ps: IntArray) -> IntArray:
    """Positions of the racks that are late with data of their own."""
    late = np.flatnonzero(delays_ps > 0)
    return late[np.isin(plan.racks[late], plan.src[plan.local])] if len(late) else late


def _timer_of_flow(plan: TransferGraph, late: IntArray) -> IntArray:
    """Position among the late racks of the one whose own data a flow carries; -1 without."""
    if not len(late):
        return np.full(plan.flows, -1, dtype=np.int64)
    timer_of_rack = np.full(len(plan.racks), -1, dtype=np.int64)
    timer_of_rack[late] = np.arange(len(late))
    timer_of_flow = timer_of_rack[np.searchsorted(plan.racks, plan.src)]
    timer_of_flow[~plan.local] = -1
    return timer_of_flow
