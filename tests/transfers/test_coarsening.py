"""Runs of chunks as nodes: nothing lost, nothing twice, precedence as among single chunks."""

from __future__ import annotations

import numpy as np
import pytest

from thzsync.carriers import THZ
from thzsync.collectives import Tensor
from thzsync.scenario import Thz
from thzsync.synthesis import Setting, find_method
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.coarsening import Coarsening, Cut, grid
from thzsync.transfers.lowering import event_batch

CUT = Cut(32, 4096)


def tree(size_bytes: int = 256 * 500, thz: int = 0) -> TransferGraph:
    """An AllReduce among six racks in chunks of 256 bytes, the first of each flow on THz."""
    racks = np.arange(6)
    method = find_method("allreduce", "proposed")
    offer = method.offer(Tensor(size_bytes), racks, 256, Setting.flat(6, Thz(subbands=2)))
    return offer.lower(np.minimum(offer.chunks, thz))


@pytest.mark.parametrize("chunks", [1, 32, 33, 100, 611, 5000, 10**5])
def test_a_grid_covers_a_flow_with_short_runs_at_both_ends(chunks: int) -> None:
    starts = grid(chunks, 32, 16)
    sizes = np.diff(np.append(starts, chunks))
    assert starts[0] == 0
    assert (sizes > 0).all()
    assert sizes[0] == sizes[-1] == 1
    assert len(starts) <= 4 * 32 + 2 * (32 // 16) * chunks.bit_length()
    assert sizes.max() <= max(16, -(-chunks // 128))


def test_few_chunks_are_nodes_of_their_own() -> None:
    assert Coarsening.of(tree(256 * 20), CUT) is None


@pytest.mark.parametrize("thz", [0, 1, 7, 100, 250])
def test_every_chunk_belongs_to_one_node(thz: int) -> None:
    graph = tree(thz=thz)
    coarse = Coarsening.of(graph, CUT)
    assert coarse is not None
    assert coarse.chunks.sum() == len(graph.chunk_flow)
    assert coarse.size_bytes.sum() == graph.flow_bytes.sum()
    node = coarse.node(graph.chunk_flow, graph.chunk_number)
    assert (node == coarse.spread(np.arange(coarse.nodes))).all()
    assert (coarse.chunks[node[graph.on_thz]] == 1).all()
    single = np.flatnonzero(coarse.chunks == 1)
    rows = coarse.rows(single)
    assert (coarse.node(graph.chunk_flow[rows], graph.chunk_number[rows]) == single).all()


@pytest.mark.parametrize("thz", [[0], [0, 5, 40, 250], [3, 0, 0, 100]])
def test_nodes_wait_for_each_other_like_their_chunks(thz: list[int]) -> None:
    graph = tree()
    graph = graph.split(np.minimum(graph.chunks, np.resize(thz, graph.flows)))
    coarse = Coarsening.of(graph, CUT)
    assert coarse is not None
    sooner, later = graph.chunk_edges
    node = coarse.node(graph.chunk_flow, graph.chunk_number)
    expected = set(zip(node[sooner].tolist(), node[later].tolist(), strict=True))
    found = [pair.tolist() for pair in coarse.edges()]
    assert set(zip(*found, strict=True)) == expected


def reached(batch: ChunkBatch) -> dict[int, int]:
    kinds, counts = np.unique(batch.kind, return_counts=True)
    return dict(zip(kinds.tolist(), counts.tolist(), strict=True))


def test_a_grouped_event_has_the_timers_the_join_and_the_bytes_of_a_plain_one() -> None:
    graph = tree(thz=9)
    delays = np.array([0, 5000, 0, 0, 7000, 0])
    coarse = Coarsening.of(graph, CUT)
    assert coarse is not None
    grouped, plain = event_batch(graph, delays, 100, coarse), event_batch(graph, delays, 100)
    assert grouped.size_bytes.sum() == plain.size_bytes.sum()
    assert (grouped.release_ps[-3:] == plain.release_ps[-3:]).all()
    assert reached(grouped)[THZ] == reached(plain)[THZ]
    assert len(grouped) < len(plain) / 2
    # a timer gates exactly the nodes of the chunks that it gates
    nodes, chunks = coarse.nodes, len(graph.chunk_flow)
    node = coarse.node(graph.chunk_flow, graph.chunk_number)
    for k in range(2):
        of_plain = plain.succ[plain.succ_ptr[chunks + k] : plain.succ_ptr[chunks + k + 1]]
        of_grouped = grouped.succ[grouped.succ_ptr[nodes + k] : grouped.succ_ptr[nodes + k + 1]]
        assert set(of_grouped.tolist()) == set(node[of_plain].tolist())


def test_chunks_arrive_evenly_while_their_node_lands() -> None:
    graph = tree()
    coarse = Coarsening.of(graph, CUT)
    assert coarse is not None
    end = np.arange(1, coarse.nodes + 1) * 1000
    ends = coarse.chunk_ends(end, end - 800)
    assert (ends == coarse.spread(end))[coarse.chunks[coarse.node(
        graph.chunk_flow, graph.chunk_number)] == 1].all()  # fmt: skip
    longest = int(coarse.chunks.argmax())
    inside = ends[coarse.spread(np.arange(coarse.nodes)) == longest]
    assert inside[-1] == end[longest]
    assert np.ptp(np.diff(inside)) <= 1
    assert inside[0] > end[longest] - 800
