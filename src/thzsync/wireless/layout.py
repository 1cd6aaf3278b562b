"""Flows of one discipline laid out for kernels: what does not depend on how a graph is split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.transfers import TransferGraph


class Layout(NamedTuple):
    """What the flows of a flow group are like, whatever they have on THz: all splits share it."""

    flows: IntArray
    """Their numbers in the graph."""
    src: IntArray
    dst: IntArray
    rack_mask: int
    """Racks of the event, as bits."""
    sender: IntArray
    """Position of every flow's source among the event's racks."""
    receiver: IntArray
    touch_start: IntArray
    touch: IntArray
    """Flows that leave or reach a position; ``touch_start`` tells where its own begin."""
    stage: IntArray
    first: IntArray
    """Row of every flow's chunk 0 (one more entry)."""
    size_bytes: IntArray
    """Size of every chunk, all chunks in one row [bytes]."""
    bytes_before: IntArray
    """Bytes in all chunks before a row."""
    bundled: BoolArray
    awaited: BoolArray


def lay_out(graph: TransferGraph, flows: IntArray) -> Layout:
    """What these flows of a graph are like."""
    all_of_them = len(flows) == graph.flows
    mine = slice(None) if all_of_them else np.isin(graph.chunk_flow, flows)
    size_bytes = graph.chunk_sizes[mine]
    sender, receiver, touch_start, touch = _meetings(graph, flows)
    return Layout(
        flows=flows,
        src=graph.src[flows],
        dst=graph.dst[flows],
        rack_mask=sum(1 << rack for rack in graph.racks.tolist()),
        sender=sender,
        receiver=receiver,
        touch_start=touch_start,
        touch=touch,
        stage=graph.stage[flows],
        first=_sums(graph.chunks[flows]),
        size_bytes=size_bytes,
        bytes_before=_sums(size_bytes),
        bundled=graph.bundled[flows],
        awaited=np.isin(flows, graph.after),
    )


def _sums(values: IntArray) -> IntArray:
    """What stands before every value, and all of them."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))


def _meetings(
    graph: TransferGraph, flows: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Positions of senders and receivers, and which flows meet at each position."""
    sender = np.searchsorted(graph.racks, graph.src[flows]).astype(np.int64)
    receiver = np.searchsorted(graph.racks, graph.dst[flows]).astype(np.int64)
    ends = np.concatenate((sender, receiver))
    touch = np.argsort(ends, kind="stable") % max(len(flows), 1)
    per_rack = np.bincount(ends, minlength=len(graph.racks))
    return sender, receiver, _sums(per_rack), touch.astype(np.int64)
