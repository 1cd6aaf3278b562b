"""Runs of chunks as one node each: an event of many chunks per flow in a bounded number of nodes.

A carrier that moves flows in trains need not follow every chunk. Where a pipeline starts up and
where it drains, single chunks matter: the first and the last stay nodes of their own. Between, the
pipeline is steady, and runs grow by doubling. The grid is the same for all flows that wait for each
other, so precedence stays one-to-one. Chunks of the air, which others look after one by one, and
the rest of their run are single too. Afterwards the times of chunks follow from those of nodes: a
chunk is ready with its node, and arrives while it lands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import IntArray
from thzsync.jit import bare, kernel
from thzsync.transfers.batch import ChunkBatch, Nodes, batch_of
from thzsync.transfers.cutting import Cut, free_pieces, grid
from thzsync.transfers.graph import TransferGraph


@dataclass(frozen=True, eq=False)
class Numbering:
    """Which nodes stand for which chunks of an event, flow after flow."""

    graph: TransferGraph
    pieces: int
    most: int
    """Chunks in one node."""

    @staticmethod
    def of(graph: TransferGraph, cut: Cut) -> Numbering | None:
        """A bounded number of fibre nodes per flow; None where every chunk is a node."""
        pieces = cut.pieces if len(graph.after) else free_pieces(cut.pieces)
        if not len(graph.chunks) or int(graph.chunks.max()) <= pieces:
            return None
        return Numbering(graph, pieces, max(1, cut.run_bytes // graph.chunk_bytes))

    @cached_property
    def _grids(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Runs of all lengths of flows: where they begin, and the run of every chunk.

        Lengths in ``starts`` and ``run_of`` follow each other; every flow has its place in both.
        """
        lengths, kind = np.unique(self.graph.chunks, return_inverse=True)
        grids = [grid(int(n), self.pieces, self.most) for n in lengths]
        runs = np.array([len(g) for g in grids], dtype=np.int64)
        starts = np.concatenate(grids)
        marks = [np.bincount(g, minlength=n) for g, n in zip(grids, lengths.tolist(), strict=True)]
        run_of = np.concatenate([np.cumsum(m) - 1 for m in marks])
        return (
            starts,
            run_of,
            (np.cumsum(runs) - runs)[kind],
            (np.cumsum(lengths) - lengths)[kind],
            runs[kind],
        )

    @cached_property
    def _runs_passed(self) -> IntArray:
        """Of every flow the first run without chunks of the air."""
        _, run_of, _, at, runs = self._grids
        owned = self.graph.thz_chunks
        last = run_of[at + np.maximum(owned - 1, 0)]
        passed: IntArray = np.minimum(np.where(owned > 0, last + 1, 0), runs)
        return passed

    @cached_property
    def single(self) -> IntArray:
        """How many chunks at the beginning of every flow are nodes of their own at any rate."""
        starts, _, first, _, runs = self._grids
        passed = self._runs_passed
        inside = starts[first + np.minimum(passed, runs - 1)]
        return np.where(passed < runs, inside, self.graph.chunks)

    @cached_property
    def first_node(self) -> IntArray:
        """Where the nodes of every flow begin (one more entry)."""
        count = self.single + self._grids[4] - self._runs_passed
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(count)))

    @property
    def nodes(self) -> int:
        """How many nodes all chunks make."""
        return int(self.first_node[-1])

    @cached_property
    def _columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        graph, (starts, _, first, _, _) = self.graph, self._grids
        return _number(
            graph.chunks, graph.flow_bytes, graph.chunk_bytes, self.first_node, self.single,
            self._runs_passed, starts, first,
        )  # fmt: skip

    @property
    def flow(self) -> IntArray:
        """Flow of every node."""
        return self._columns[0]

    @property
    def first_chunk(self) -> IntArray:
        """The first chunk of every node, counted within its flow."""
        return self._columns[1]

    @property
    def chunks(self) -> IntArray:
        """How many chunks every node has."""
        return self._columns[2]

    @property
    def size_bytes(self) -> IntArray:
        """Bytes of every node."""
        return self._columns[3]

    def node(self, flow: IntArray, chunk: IntArray) -> IntArray:
        """The node to which a flow's chunk belongs."""
        _, run_of, _, at, _ = self._grids
        single = self.single[flow]
        run = run_of[at[flow] + chunk] - self._runs_passed[flow]
        return self.first_node[flow] + np.where(chunk < single, chunk, single + run)

    def rows(self, nodes: IntArray) -> IntArray:
        """Rows, all chunks counted, of the first chunk of nodes."""
        return self.graph.first_chunk[self.flow[nodes]] + self.first_chunk[nodes]

    def edges(self) -> tuple[IntArray, IntArray]:
        """Pairs of (sooner, later) nodes: those that share a chunk."""
        graph, (_, run_of, _, at, _) = self.graph, self._grids
        return _share(
            graph.after_start, graph.after, self.first_node, self.first_chunk, self.single,
            self._runs_passed, run_of, at,
        )  # fmt: skip

    def spread(self, values: IntArray) -> IntArray:
        """A value of every node for all its chunks."""
        return np.repeat(values, self.chunks)

    def chunk_ends(self, end_ps: IntArray, landing_ps: IntArray) -> IntArray:
        """When single chunks arrived: evenly from the landing of a node to its end [ps]."""
        graph = self.graph
        ends_ps = np.empty(int(graph.first_chunk[-1]), dtype=np.int64)
        _fill_ends(self.chunks, self.size_bytes, graph.chunk_bytes, end_ps, landing_ps, ends_ps)
        return ends_ps


@kernel
def _number(
    chunks: IntArray, flow_bytes: IntArray, chunk_bytes: int, first_node: IntArray,
    single: IntArray, runs_passed: IntArray, starts: IntArray, first_run: IntArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:  # fmt: skip
    """Flow, first chunk, chunks and bytes of every node."""
    nodes = first_node[-1]
    flow, size_bytes = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    first, count = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    for f in range(len(chunks)):
        for n in range(first_node[f], first_node[f + 1]):
            chunk = n - first_node[f]
            if chunk >= single[f]:
                chunk = starts[first_run[f] + runs_passed[f] + chunk - single[f]]
            flow[n], first[n] = f, chunk
        end = chunks[f]
        for n in range(first_node[f + 1] - 1, first_node[f] - 1, -1):
            count[n] = end - first[n]
            left = flow_bytes[f] - first[n] * chunk_bytes
            size_bytes[n] = min(left, count[n] * chunk_bytes)
            end = first[n]
    return flow, first, count, size_bytes


@kernel
def _share(
    after_start: IntArray, after: IntArray, first_node: IntArray, first_chunk: IntArray,
    single: IntArray, runs_passed: IntArray, run_of: IntArray, at: IntArray,
) -> tuple[IntArray, IntArray]:  # fmt: skip
    """Nodes of flows that wait for each other, and have a chunk in common."""
    pairs = 0
    for f in range(len(single)):
        for g in after[after_start[f] : after_start[f + 1]]:
            # on the grid of whichever of the two has more single chunks, every step is in one node
            finer = g if single[g] > single[f] else f
            pairs += first_node[finer + 1] - first_node[finer]
    sooner, later = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int64)
    e = 0
    for f in range(len(single)):
        for g in after[after_start[f] : after_start[f + 1]]:
            finer = g if single[g] > single[f] else f
            for n in range(first_node[finer], first_node[finer + 1]):
                chunk = first_chunk[n]
                sooner[e] = first_node[g] + chunk
                if chunk >= single[g]:
                    sooner[e] = first_node[g] + single[g] + run_of[at[g] + chunk] - runs_passed[g]
                later[e] = first_node[f] + chunk
                if chunk >= single[f]:
                    later[e] = first_node[f] + single[f] + run_of[at[f] + chunk] - runs_passed[f]
                e += 1
    return sooner, later


@bare
def _fill_ends(
    chunks: IntArray, size_bytes: IntArray, chunk_bytes: int, end_ps: IntArray,
    landing_ps: IntArray, ends_ps: IntArray,
) -> None:  # fmt: skip
    row = 0
    for n in range(len(chunks)):
        landing = float(end_ps[n] - landing_ps[n])
        for k in range(chunks[n] - 1):
            rest = max(size_bytes[n] - (k + 1) * chunk_bytes, 0) / size_bytes[n]
            ends_ps[row] = end_ps[n] - np.int64(np.rint(landing * rest))
            row += 1
        ends_ps[row] = end_ps[n]
        row += 1


def grouped_batch(numbering: Numbering, delays_ps: IntArray, release_ps: int) -> ChunkBatch:
    """An event as nodes: see :func:`thzsync.transfers.batch.event_batch`, with runs of chunks."""
    plan, flow = numbering.graph, numbering.flow
    on_air = numbering.first_chunk < plan.thz_chunks[flow]
    nodes = Nodes(flow, numbering.size_bytes, on_air, *numbering.edges())
    return batch_of(plan, nodes, delays_ps, release_ps)
