"""An event as a batch: nodes for its chunks, a timer per late sender, a join of all at the end."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.transfers.batch import ChunkBatch, rows_of
from thzsync.transfers.coarsening import Coarsening
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.precedence import JOIN, TIMER


def event_batch(
    graph: TransferGraph,
    delays_ps: IntArray,
    release_ps: int,
    coarsening: Coarsening | None = None,
) -> ChunkBatch:
    """The batch of an event; every chunk is a node unless there is a coarsening.

    A straggler that only receives has no timer: it delays nobody.
    """
    if coarsening is None:
        flow, size_bytes, carrier = graph.chunk_flow, graph.chunk_sizes, graph.decided
        sooner, later = graph.chunk_edges
    else:
        flow, size_bytes = coarsening.flow, coarsening.size_bytes
        carrier = graph.carrier_of(flow, coarsening.first_chunk)
        sooner, later = coarsening.edges()
    late = _late(graph, delays_ps)
    nodes, join = len(flow), len(flow) + len(late)
    columns = np.zeros((6, join + 1), dtype=np.int64)
    columns[0, :nodes] = carrier
    columns[1, :nodes], columns[2, :nodes] = graph.src[flow], graph.dst[flow]
    columns[3, :nodes], columns[4, :nodes] = size_bytes, flow
    columns[0, nodes:join], columns[0, join] = TIMER, JOIN
    columns[5, nodes:join] = release_ps + delays_ps[late]
    kind, src, dst, node_bytes, node_flow, node_release = columns
    everyone = np.arange(nodes)
    before, after = [sooner, everyone], [later, np.full(nodes, join)]
    if len(late):
        timer = _timer_of_flow(graph, late)[flow]
        gated = np.flatnonzero(timer >= 0)
        before.insert(1, nodes + timer[gated])
        after.insert(1, gated)
    succ_ptr, succ = rows_of(np.concatenate(before), np.concatenate(after), join + 1)
    notify = np.zeros(join + 1, dtype=np.bool_)
    notify[join] = True
    return ChunkBatch(kind, src, dst, node_bytes, node_flow, succ_ptr, succ, node_release, notify)


def _late(graph: TransferGraph, delays_ps: IntArray) -> IntArray:
    """Positions of the racks that are late with data of their own."""
    late = np.flatnonzero(delays_ps > 0)
    return late[np.isin(graph.racks[late], graph.src[graph.local])] if len(late) else late


def _timer_of_flow(graph: TransferGraph, late: IntArray) -> IntArray:
    """Position among the stragglers of the one whose own data a flow carries; -1 without."""
    timer_of_rack = np.full(len(graph.racks), -1, dtype=np.int64)
    timer_of_rack[late] = np.arange(len(late))
    timer_of_flow = timer_of_rack[np.searchsorted(graph.racks, graph.src)]
    timer_of_flow[~graph.local] = -1
    return timer_of_flow
