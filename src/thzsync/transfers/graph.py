"""The transfer graph: flows, chunks and precedence, each flow with its carriers and discipline.

It is what packages exchange: methods make it, the executor carries it out, records
keep it, checks and the auditor judge it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.carriers import THZ
from thzsync.collectives import Blocks, Demand, find_collective


@dataclass(frozen=True, eq=False)
class TransferGraph:
    """How one event is carried out.

    Precedence is chunk-wise between flows: chunk k of a flow may leave its source only when chunk
    k of every flow in ``after`` has arrived there and, where ``local`` is set, when the source's
    own data is released. Flows in ``after`` have the same number of chunks as their successor.
    Nothing else is assumed: trees, rings, permutations, relays or plain transfers, and different
    structures on the two fabrics beside each other.
    """

    kind: str
    """Name of the collective."""
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
    block: IntArray
    """Block of the collective (see ``collectives.blocks``) that a flow carries a part of."""
    shard: IntArray
    """Which part: flows of one shard carry the same bytes of the same block."""
    reduces: BoolArray
    """Whether the destination adds what arrives (True) or replaces what it has (False)."""
    carried: IntArray
    """Carriers of every flow's chunks, by (flow, carrier beside fibre): the first n chunks travel
    on carrier 1, those after them on carrier 2, the rest on fibre. A vector means THz."""
    disciplines: tuple[str, ...]
    """Names of the disciplines that flows of this graph use on THz."""
    discipline: IntArray
    """Position of every flow's discipline in ``disciplines``."""
    bundled: BoolArray
    """Whether the THz chunks of a flow travel as one transmission once all are ready."""
    stage: IntArray
    """Barrier on THz: a flow starts when all flows of lower stages are done; all 0 for none."""

    def __post_init__(self) -> None:
        if self.carried.ndim == 1:
            object.__setattr__(self, "carried", self.carried[:, None])

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
    def chunk_number(self) -> IntArray:
        """Position of every chunk in its flow, all chunks in one row."""
        return np.arange(len(self.chunk_flow)) - self.first_chunk[self.chunk_flow]

    @cached_property
    def chunk_sizes(self) -> IntArray:
        """Bytes of every chunk, all chunks in one row; the last of a flow may be short."""
        sizes = np.full(int(self.chunks.sum()), self.chunk_bytes, dtype=np.int64)
        sizes[self.first_chunk[1:] - 1] = self.flow_bytes - (self.chunks - 1) * self.chunk_bytes
        return sizes

    @cached_property
    def thz_chunks(self) -> IntArray:
        """Chunks of every flow that travel on THz: its first ones."""
        return np.ascontiguousarray(self.carried[:, THZ - 1])

    @cached_property
    def decided(self) -> IntArray:
        """Carrier of every chunk as decided, all chunks in one row."""
        return self.carrier_of(self.chunk_flow, self.chunk_number)

    @property
    def on_thz(self) -> BoolArray:
        """Which chunks were decided for THz, all chunks in one row."""
        on_thz: BoolArray = self.decided == THZ
        return on_thz

    def carrier_of(self, flow: IntArray, chunk: IntArray) -> IntArray:
        """The carriers that are decided for chunks of flows."""
        carrier = np.zeros(len(flow), dtype=np.int64)
        for k, ends in reversed(list(enumerate(np.cumsum(self.carried, axis=1).T, THZ))):
            carrier[chunk < ends[flow]] = k
        return carrier

    @cached_property
    def chunk_edges(self) -> tuple[IntArray, IntArray]:
        """Rows of (sooner, later) chunks: chunk k after chunk k of every flow in ``after``."""
        later_flow = np.repeat(np.arange(self.flows), np.diff(self.after_start))
        count = self.chunks[later_flow]
        within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        sooner = np.repeat(self.first_chunk[self.after], count) + within
        later = np.repeat(self.first_chunk[later_flow], count) + within
        return sooner, later

    @cached_property
    def blocks(self) -> Blocks:
        """Pre- and postcondition of the collective."""
        return find_collective(self.kind).blocks(self.demand, self.racks)

    def predecessors(self, flow: int) -> IntArray:
        """Flows that ``flow`` waits for, chunk by chunk."""
        return self.after[self.after_start[flow] : self.after_start[flow + 1]]

    def split(self, carried: IntArray) -> TransferGraph:
        """The same flows on other carriers (eq:bandit_action); a vector means THz."""
        return replace(self, carried=carried)
