"""Two structures in one event: each fabric carries its part of a tensor the way it does best."""

from __future__ import annotations

from dataclasses import dataclass, replace

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.synthesis.method import Setting
from thzsync.synthesis.offer import Offer
from thzsync.synthesis.rings import ring_flows
from thzsync.synthesis.streamed import best_route
from thzsync.transfers import Flow, TransferGraph, graph_of


@dataclass(frozen=True)
class StreamedAndRing:
    """AllReduce: streamed on THz beside the bandwidth-optimal ring on fibre.

    The policy decides how many chunks of the tensor are streamed; one budget serves all racks.
    """

    collective: str = "allreduce"
    name: str = "streamed-and-ring"
    summary: str = "streamed on THz beside a bandwidth-optimal ring on fibre"

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        """One unit: the tensor, judged by the links of its route."""
        size = int(find_collective(self.collective).blocks(demand, racks).size_bytes.sum())
        if size == 0 or len(racks) < 2:
            return Offer.per_flow(self._graph(demand, racks, chunk_bytes, []))
        route = best_route(setting, racks, size)

        def lower(thz_chunks: IntArray) -> TransferGraph:
            on_thz = min(size, int(thz_chunks[0]) * chunk_bytes)
            flows = ring_flows(racks, size - on_thz)
            if on_thz:
                shard, first = len(racks), len(flows)
                flows += route.flows(on_thz, shard, first, thz=True)
            return self._graph(demand, racks, chunk_bytes, flows)

        chunks = -(-size // chunk_bytes)
        return Offer.whole(self.collective, racks, chunks, *route.links(), lower)

    def _graph(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, flows: list[Flow]
    ) -> TransferGraph:
        graph = graph_of(self.collective, demand, racks, chunk_bytes, flows)
        return replace(graph, method=self.name)
