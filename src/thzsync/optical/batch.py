"""What is submitted to the fabric: a batch of nodes with precedence, checked before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.jit import kernel
from thzsync.optical.layout import EXTERNAL, JOIN, WIRED
from thzsync.optical.network import Network


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
        order = np.argsort(heads, kind="stable")
        ptr = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(heads, minlength=n), out=ptr[1:])

        def column(x: Any) -> IntArray:
            return np.ascontiguousarray(np.broadcast_to(np.asarray(x, dtype=np.int64), (n,)))

        return ChunkBatch(
            kind=column(kinds),
            src=column(src),
            dst=column(dst),
            size_bytes=column(size_bytes),
            flow=column(flow),
            succ_ptr=ptr,
            succ=tails[order],
            release_ps=column(release_ps),
            notify=np.broadcast_to(np.asarray(notify, dtype=np.bool_), (n,)).copy(),
        )

    @property
    def predecessors(self) -> IntArray:
        """How many nodes must finish before each node."""
        return np.bincount(self.succ, minlength=len(self)).astype(np.int64)


def _within(x: AnyArray, n: int) -> bool:
    return bool(x.min() >= 0 and x.max() < n)


@kernel
def count_orderable(ptr: IntArray, succ: IntArray, pending: IntArray) -> int:
    """How many nodes can run in some order; fewer than all means a circle."""
    n = len(pending)
    queue = np.empty(n, dtype=np.int64)
    filled = 0
    for k in range(n):
        if pending[k] == 0:
            queue[filled] = k
            filled += 1
    done = 0
    while done < filled:
        k = queue[done]
        done += 1
        for e in range(ptr[k], ptr[k + 1]):
            pending[succ[e]] -= 1
            if pending[succ[e]] == 0:
                queue[filled] = succ[e]
                filled += 1
    return done


def check(batch: ChunkBatch, network: Network) -> None:
    """Refuse what could never run, naming the flow; raises `ThzSyncError`."""
    if len(batch) == 0:
        raise ThzSyncError("batch: it holds no nodes; submit at least one")
    if not _within(batch.kind, JOIN + 1):
        raise ThzSyncError("batch: kinds must be WIRED, EXTERNAL, TIMER or JOIN")
    carried = np.flatnonzero((batch.kind == WIRED) | (batch.kind == EXTERNAL))
    if len(carried):
        _check_chunks(batch, network, carried)
    pending = batch.predecessors
    if len(batch.succ) and count_orderable(batch.succ_ptr, batch.succ, pending) < len(batch):
        stuck = int(np.flatnonzero(pending > 0)[0])
        raise ThzSyncError(
            f"batch: node {stuck} (flow {batch.flow[stuck]}) waits for itself through its "
            f"predecessors; remove the circle"
        )


def _check_chunks(batch: ChunkBatch, network: Network, carried: IntArray) -> None:
    src, dst, size = batch.src[carried], batch.dst[carried], batch.size_bytes[carried]
    flow = batch.flow[carried]

    def refuse(wrong: BoolArray, text: str) -> None:
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            values = {"flow": flow[k], "src": src[k], "dst": dst[k], "size": size[k]}
            place = f"flow {flow[k]} (chunk {carried[k]})"
            raise ThzSyncError(f"{place}: " + text.format(**values, last=network.racks - 1))

    unknown = (src < 0) | (src >= network.racks)
    refuse(unknown, "source rack {src} does not exist; use 0..{last}")
    unknown = (dst < 0) | (dst >= network.racks)
    refuse(unknown, "destination rack {dst} does not exist; use 0..{last}")
    refuse(src == dst, "it goes from rack {src} to itself; name two different racks")
    refuse(size <= 0, "its size is {size} bytes; use at least 1")
    refuse(flow < 0, "flow numbers start at 0; renumber it")
    packet = np.minimum(size, network.packet_bytes)
    narrow = min(network.nic_queue_bytes, network.output_queue_bytes)
    refuse(packet > narrow, f"no queue can pass its packets ({narrow} bytes); use smaller packets")
    crossing = network.ring_of_rack[src] != network.ring_of_rack[dst]
    room = np.where(crossing, network.ring_facing_bytes, network.shared_buffer_bytes)
    refuse(packet > room, "no shared buffer can pass its packets; enlarge shared_buffer_bytes")
    first = np.full(int(flow.max()) + 1, -1, dtype=np.int64)
    first[flow] = src
    refuse(first[flow] != src, "its chunks leave from several racks; use one flow per source")
