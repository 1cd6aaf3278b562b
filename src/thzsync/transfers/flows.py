"""Transfer graphs from rows of flows: the one place that lays out precedence as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.collectives import Blocks, Demand, find_collective
from thzsync.transfers.graph import TransferGraph


@dataclass(frozen=True)
class Flow:
    """One flow of a graph, before the rows become arrays; see :class:`TransferGraph`."""

    src: int
    dst: int
    size_bytes: int
    after: tuple[int, ...] = ()
    local: bool = True
    block: int = 0
    shard: int = 0
    reduces: bool = False
    stage: int = 0
    bundled: bool = True
    thz: bool = False
    """Whether the flow travels on THz; a method that leaves it open sets nothing."""
    discipline: str = "assignment"
    """How the overlay forms its transmissions, if it travels on THz."""


def graph_of(
    kind: str, demand: Demand, racks: IntArray, chunk_bytes: int, flows: Sequence[Flow]
) -> TransferGraph:
    """A graph from its flows, in order."""
    counts = [len(flow.after) for flow in flows]
    names = tuple(dict.fromkeys(flow.discipline for flow in flows))
    size_bytes = _column([flow.size_bytes for flow in flows])
    on_thz = _flags([flow.thz for flow in flows])
    return TransferGraph(
        kind=kind,
        method="",
        racks=racks,
        demand=demand,
        src=_column([flow.src for flow in flows]),
        dst=_column([flow.dst for flow in flows]),
        flow_bytes=size_bytes,
        chunk_bytes=chunk_bytes,
        after_start=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64),
        after=_column([f for flow in flows for f in flow.after]),
        local=_flags([flow.local for flow in flows]),
        block=_column([flow.block for flow in flows]),
        shard=_column([flow.shard for flow in flows]),
        reduces=_flags([flow.reduces for flow in flows]),
        carried=np.where(on_thz, -(-size_bytes // chunk_bytes), 0),
        disciplines=names,
        discipline=_column([names.index(flow.discipline) for flow in flows]),
        bundled=_flags([flow.bundled for flow in flows]),
        stage=_column([flow.stage for flow in flows]),
    )


def direct_graph(
    kind: str,
    demand: Demand,
    racks: IntArray,
    chunk_bytes: int,
    discipline: str,
    *,
    bundled: bool = False,
    stage: IntArray | None = None,
) -> TransferGraph:
    """One flow per block, straight from its source to its target (eq:a2a_flow_set)."""
    blocks: Blocks = find_collective(kind).blocks(demand, racks)
    if len(blocks.single) < len(blocks):
        raise ValueError(f"{kind}: some blocks have several sources or targets")
    flows = len(blocks)
    each = np.arange(flows, dtype=np.int64)
    none = np.zeros(flows, dtype=np.int64)
    return TransferGraph(
        kind=kind,
        method="",
        racks=racks,
        demand=demand,
        src=blocks.source,
        dst=blocks.target,
        flow_bytes=blocks.size_bytes,
        chunk_bytes=chunk_bytes,
        after_start=np.zeros(flows + 1, dtype=np.int64),
        after=np.zeros(0, dtype=np.int64),
        local=np.ones(flows, dtype=np.bool_),
        block=each,
        shard=each,
        reduces=np.zeros(flows, dtype=np.bool_),
        carried=none,
        disciplines=(discipline,),
        discipline=none,
        bundled=np.full(flows, bundled),
        stage=none if stage is None else stage,
    )


def _column(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _flags(values: Sequence[bool]) -> BoolArray:
    return np.array(values, dtype=np.bool_)
