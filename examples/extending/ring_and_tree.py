"""An AllReduce whose structure is a ring on fibre and a tree on THz.

The policy decides how many chunks of the tensor take the tree; the rest goes round the ring.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.synthesis import Offer, Setting
from thzsync.synthesis.rings import ring_flows
from thzsync.synthesis.trees import Tree, grow_trees, link_db_of, reduce_flows, spread_flows
from thzsync.transfers import Flow, TransferGraph, graph_of


@dataclass(frozen=True)
class RingAndTree:
    collective: str = "allreduce"
    name: str = "ring-and-tree"
    summary: str = "a ring on fibre beside a tree on THz"

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        size = int(find_collective("allreduce").blocks(demand, racks).size_bytes.sum())
        if len(racks) < 2 or size == 0:
            return Offer.per_flow(self._graph(demand, racks, chunk_bytes, []))
        fan_out, around = setting.thz.subbands, setting.along_fibre(racks)
        (tree,) = grow_trees(link_db_of(setting.gains), setting.delay_s, 1, fan_out)

        def lower(thz_chunks: IntArray) -> TransferGraph:
            on_thz = min(size, int(thz_chunks[0]) * chunk_bytes)
            flows = [*ring_flows(around, size - on_thz), *self._tree(tree, racks, on_thz, size)]
            return self._graph(demand, racks, chunk_bytes, flows)

        children = np.array(tree.order[1:])
        parents = np.array(tree.parent)[children]
        links = racks[children], racks[parents]
        return Offer.whole("allreduce", racks, -(-size // chunk_bytes), *links, lower)

    def _tree(self, tree: Tree, racks: IntArray, on_thz: int, size: int) -> list[Flow]:
        if on_thz == 0:
            return []
        first = len(ring_flows(racks, size - on_thz))
        up = reduce_flows(tree, racks, on_thz, shard=len(racks), first=first)
        down = spread_flows(tree, racks, on_thz, shard=len(racks), first=first + len(up))
        return [replace(flow, thz=True) for flow in up + down]

    def _graph(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, flows: list[Flow]
    ) -> TransferGraph:
        graph = graph_of("allreduce", demand, racks, chunk_bytes, flows)
        return replace(graph, method=self.name)
