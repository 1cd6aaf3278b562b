"""A synthesised event: flows, chunks and precedence, before anybody picks a fabric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.collectives.demand import Demand, Kind


@dataclass(frozen=True, eq=False)
class Plan:
    """How one event is carried out.

    Precedence is chunk-wise between flows: chunk k of a flow may leave its source only when chunk
    k of every flow in ``after`` has arrived there and, where ``local`` is set, when the source's
    own data is released. Flows in ``after`` have the same number of chunks as their successor.
    Nothing else is assumed: a plan may be trees, rings, permutations or plain transfers.
    """

    kind: Kind
    method: str
    racks: IntArray
    """Participating racks V_e, ascending."""
    demand: Demand
    src: IntArray
    """Source rack i_f of every flow."""
    dst: IntArray
    """Destination rack j_f of every flow."""
    flow_bytes: IntArray
    """D_f of every flow [bytes], all positive."""
    chunk_bytes: int
    """B_ch, the largest chunk [bytes]."""
    after_start: IntArray
    """Row starts of ``after`` (one more than flows)."""
    after: IntArray
    """Flows that must deliver chunk k before chunk k of this flow may leave."""
    local: BoolArray
    """Whether a flow carries data that its own source produces."""
    shard: IntArray
    """AllReduce: which part of the tensor a flow carries; elsewhere 0."""
    reduces: BoolArray
    """AllReduce: whether the destination adds what arrives (True) or replaces it (False)."""
    bundled: bool
    """Whether the THz-owned chunks of a flow travel as one transmission once all are ready."""
    stage: IntArray
    """Barrier on THz: a flow starts when all flows of lower stages are done; all 0 for none."""

    @property
    def flows(self) -> int:
        """Number of flows."""
        return len(self.src)

    @cached_property
    def chunks(self) -> IntArray:
        """K_f = ceil(D_f / B_ch), the chunks of every flow."""
        return -(-self.flow_bytes // self.chunk_bytes)

    @cached_property
    def first_chunk(self) -> IntArray:
        """Where every flow's chunks begin when all chunks stand in one row (one more entry)."""
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.chunks)))

    @cached_property
    def chunk_flow(self) -> IntArray:
        """Flow of every chunk, all chunks in one row."""
        return np.repeat(np.arange(self.flows, dtype=np.int64), self.chunks)

    @cached_property
    def chunk_sizes(self) -> IntArray:
        """Bytes of every chunk, all chunks in one row; the last of a flow may be short."""
        sizes = np.full(int(self.chunks.sum()), self.chunk_bytes, dtype=np.int64)
        sizes[self.first_chunk[1:] - 1] = self.flow_bytes - (self.chunks - 1) * self.chunk_bytes
        return sizes

    def predecessors(self, flow: int) -> IntArray:
        """Flows that ``flow`` waits for, chunk by chunk."""
        return self.after[self.after_start[flow] : self.after_start[flow + 1]]

    @cached_property
    def senders(self) -> IntArray:
        """Racks that send at least one flow, ascending."""
        return np.unique(self.src)
