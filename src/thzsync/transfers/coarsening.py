"""Runs of chunks as one node each: an event of many chunks per flow in a bounded number of nodes.

A carrier that moves flows in trains need not follow every chunk. Where a pipeline starts up and
where it drains, single chunks matter: the first and the last stay nodes of their own. Between, the
pipeline is steady, and runs grow by doubling. The grid is the same for all flows that wait for each
other, so precedence stays one-to-one. Chunks of other carriers, which look after them one by one,
and the rest of their run are single too. Afterwards the times of chunks follow from those of nodes:
a chunk is ready with its node, and arrives while it lands.

There are no kernels here: estimates ask for runs, too, before anything is compiled or loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from thzsync.arrays import IntArray
from thzsync.scenario import FibreDegraded, Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.transfers.graph import TransferGraph


def free_pieces(pieces: int) -> int:
    """Pieces per flow where no chunk waits for another: flows share links, and nothing else."""
    return max(8, pieces // 4)


class Cut(NamedTuple):
    """Into how many nodes the chunks of a flow are put together."""

    pieces: int
    """About so many nodes per flow, and at most four times as many."""
    run_bytes: int
    """No node has more bytes, unless that would make too many of them."""


def cut_of(scenario: Scenario) -> Cut | None:
    """How a scenario's flows are cut; None: every chunk is a node.

    Chunks that a broken fibre may hand to THz must be single.
    """
    broken = any(isinstance(fault, FibreDegraded) for fault in scenario.faults)
    if broken or not in_flows(scenario):
        return None
    optical = scenario.optical
    queue_bytes = min(optical.nic_queue_bytes, optical.output_queue_bytes)
    return Cut(optical.trains_per_flow, queue_bytes // 2)


@cache
def grid(chunks: int, pieces: int, most: int) -> IntArray:
    """The first chunk of every run of a flow: about ``pieces`` of them, or as many as chunks.

    A run has at most ``most`` chunks, unless four times ``pieces`` are not enough then.
    """
    if chunks <= pieces:
        return np.arange(chunks)
    longest = max(min(-(-2 * chunks // pieces), most), -(-chunks // (4 * pieces)))
    repeats = max(1, pieces // 16)
    rising = [1 << level for level in range(longest.bit_length()) if 1 << level < longest]
    ramp = np.repeat(np.array(rising, dtype=np.int64), repeats)
    ramp = ramp[np.cumsum(ramp) <= chunks // 2]
    middle = chunks - 2 * int(ramp.sum())
    even = np.diff(np.arange(-(-middle // longest) + 1) * middle // max(1, -(-middle // longest)))
    sizes = np.concatenate((ramp, even, ramp[::-1]))
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]))


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Which nodes stand for which chunks of an event, flow after flow."""

    graph: TransferGraph
    pieces: int
    most: int
    """Chunks in one node."""

    @staticmethod
    def of(graph: TransferGraph, cut: Cut) -> Coarsening | None:
        """A bounded number of fibre nodes per flow; None where every chunk is a node."""
        pieces = cut.pieces if len(graph.after) else free_pieces(cut.pieces)
        if not len(graph.chunks) or int(graph.chunks.max()) <= pieces:
            return None
        return Coarsening(graph, pieces, max(1, cut.run_bytes // graph.chunk_bytes))

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
        """Of every flow the first run that is on fibre as a whole."""
        _, run_of, _, at, runs = self._grids
        owned = self.graph.carried.sum(axis=1)
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
    def flow(self) -> IntArray:
        """Flow of every node."""
        return np.repeat(np.arange(self.graph.flows), np.diff(self.first_node))

    @cached_property
    def first_chunk(self) -> IntArray:
        """The first chunk of every node, counted within its flow."""
        starts, _, first, _, _ = self._grids
        single = self.single[self.flow]
        within = np.arange(self.nodes) - self.first_node[self.flow]
        run = (first + self._runs_passed)[self.flow] + np.maximum(within - single, 0)
        return np.where(within < single, within, starts[np.minimum(run, len(starts) - 1)])

    @cached_property
    def chunks(self) -> IntArray:
        """How many chunks every node has."""
        ends = np.append(self.first_chunk[1:], 0)
        ends[self.first_node[1:] - 1] = self.graph.chunks
        return ends - self.first_chunk

    @cached_property
    def size_bytes(self) -> IntArray:
        """Bytes of every node."""
        left = self.graph.flow_bytes[self.flow] - self.first_chunk * self.graph.chunk_bytes
        size_bytes: IntArray = np.minimum(left, self.chunks * self.graph.chunk_bytes)
        return size_bytes

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
        """Pairs of (sooner, later) nodes of flows that wait for each other: those sharing a chunk.

        On the grid of whichever flow has more single chunks, every step is in one node.
        """
        graph, sooner = self.graph, self.graph.after
        later = np.repeat(np.arange(graph.flows), np.diff(graph.after_start))
        finer = np.where(self.single[sooner] > self.single[later], sooner, later)
        count = np.diff(self.first_node)[finer]
        within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        chunk = self.first_chunk[np.repeat(self.first_node[finer], count) + within]
        return (
            self.node(np.repeat(sooner, count), chunk),
            self.node(np.repeat(later, count), chunk),
        )

    def spread(self, values: IntArray) -> IntArray:
        """A value of every node for all its chunks."""
        return np.repeat(values, self.chunks)

    def chunk_ends(self, end_ps: IntArray, landing_ps: IntArray) -> IntArray:
        """When single chunks arrived: evenly from the landing of a node to its end [ps]."""
        first = np.cumsum(self.chunks) - self.chunks
        size_bytes, end = self.spread(self.size_bytes), self.spread(end_ps)
        arrived = np.arange(len(end)) - self.spread(first) + 1
        rest = np.maximum(size_bytes - arrived * self.graph.chunk_bytes, 0) / size_bytes
        landing = (end - self.spread(landing_ps)).astype(np.float64)
        ends_ps: IntArray = end - np.rint(landing * rest).astype(np.int64)
        return ends_ps
