from __future__ import annotations

import copy
from dataclasses import replace

from tests.transfers.build import ring_plan


def test_a_split_says_which_chunks_go_by_thz() -> None:
    graph = ring_plan(4, 12_345)
    one, other = graph.split(graph.chunks), graph.split(graph.chunks * 0)
    assert one.on_thz.all()
    assert not other.on_thz.any()


def test_a_graph_with_other_flows_keeps_nothing_of_the_split_it_was_made_from() -> None:
    split = ring_plan(4, 12_345).split(ring_plan(4, 12_345).chunks)
    before = split.chunks
    doubled = replace(split, flow_bytes=2 * split.flow_bytes)
    assert (doubled.chunks >= before).all()
    assert int(doubled.chunk_sizes.sum()) == 2 * int(split.flow_bytes.sum())


def test_a_copied_split_means_the_same() -> None:
    split = ring_plan(4, 12_345).split(ring_plan(4, 12_345).chunks)
    assert copy.deepcopy(split).chunk_sizes.tolist() == split.chunk_sizes.tolist()
