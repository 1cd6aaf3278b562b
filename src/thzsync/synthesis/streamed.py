"""AllReduce streamed chunk by chunk on links that never turn: round a cycle, or along a path.

Round a cycle every link carries 2(N - 1)/N of the tensor in one direction and every rack sends from
the first moment to the last, which is all that its subbands can do. It needs everybody's data from
the start and an even number of racks (neighbours send on disjoint halves of the band).

Along a path of strong links chunks are summed from both ends towards the root and sent back: every
link carries the tensor once in each direction, and a chunk goes on as soon as it has arrived. The
root is the latest straggler: everything that is ready is summed before its data is there. Several
stragglers let their data meet first (``stragglers.Meeting``), unless one is so much later that the
others' has passed by then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.synthesis.method import Setting
from thzsync.synthesis.offer import Offer
from thzsync.synthesis.rings import ring_flows
from thzsync.synthesis.stragglers import Meeting, meeting, path_load
from thzsync.transfers import Flow, TransferGraph, graph_of

MOST_CLOSED: Final = 32
"""Racks up to which a cycle is worth its flows, which grow with their square; what it gains over a
path shrinks with their number."""
SHARPNESS: Final = 8.0
"""Exponent that makes a route's cost follow its slowest link."""


@dataclass(frozen=True, eq=False)
class Route:
    """Racks in the order in which they are visited."""

    racks: IntArray
    root: int | None
    """Place of the rack that sums up at last; none where everybody does, round a cycle."""

    def links(self) -> tuple[IntArray, IntArray]:
        """Sources and destinations of the links, in one direction."""
        following = np.roll(self.racks, -1)
        end = len(self.racks) - (self.root is not None)
        return self.racks[:end], following[:end]

    def flows(self, size: int, shard: int = 0, first: int = 0, thz: bool = False) -> list[Flow]:
        """Flows ``first``, ... of shards ``shard``, ... that reduce and spread so many bytes."""
        if self.root is not None:
            return path_flows(self.racks, self.root, size, shard, first, thz)
        return [
            replace(
                flow,
                after=tuple(first + f for f in flow.after),
                shard=shard + flow.shard,
                stage=0,
                bundled=False,
                thz=thz,
                discipline="pipeline",
            )
            for flow in ring_flows(self.racks, size)
        ]


def path_flows(
    racks: IntArray, root: int, size: int, shard: int = 0, first: int = 0, thz: bool = False
) -> list[Flow]:
    """Flows ``first``, ... along racks in the order of the path; up and down of a link in turn."""
    links, order = len(racks) - 1, racks.tolist()  # link k joins places k and k + 1
    flow = partial(
        Flow, size_bytes=size, shard=shard, bundled=False, thz=thz, discipline="pipeline"
    )
    sums = tuple(first + 2 * k for k in (root - 1, root) if 0 <= k < links)
    flows = []
    for k in range(links):
        outwards = -1 if k < root else 1
        far, near = order[k : k + 2][::-outwards]
        beyond, at_root = k + outwards, k in (root - 1, root)
        before = (first + 2 * beyond,) if 0 <= beyond < links else ()
        after = sums if at_root else (first + 2 * (k - outwards) + 1,)
        flows.append(flow(far, near, after=before, local=True, reduces=True))
        flows.append(flow(near, far, after=after, local=at_root, reduces=False))
    return flows


def best_route(setting: Setting, racks: IntArray, size: int) -> Route | Meeting:
    """By who is late, and by the slowest link where nobody is."""
    n, late = len(racks), np.flatnonzero(setting.delay_s > 0)
    even = n >= 4 and n % 2 == 0 and setting.thz.subbands >= 2
    order, root = _path(setting)
    path = Route(racks[order], root)
    if n >= 4 and len(late) >= 2:
        met, load = meeting(setting, racks, size)
        return met if load < path_load(setting, order, size) else path
    if not even or n > MOST_CLOSED or len(late):
        return path
    rate, cycle = setting.link_rates, _order(setting, closed=True)
    closed = float(rate[cycle, np.roll(cycle, -1)].min()) * n / (n - 1)
    opened = float(rate[order[:-1], order[1:]].min())
    return Route(racks[cycle], None) if closed > opened else path


def _path(setting: Setting) -> tuple[IntArray, int]:
    """Positions of the racks along the path, and the root's place in it."""
    order = _order(setting, closed=False)
    late = setting.delay_s[order]
    return order, int(np.argmax(late)) if late.any() else len(order) // 2


def _order(setting: Setting, closed: bool) -> IntArray:
    """The cheapest route: the one of the fastest links."""
    from thzsync.synthesis.routes import strongest_route  # compiled: not for who only asks names

    cost: FloatArray = (1 / np.maximum(setting.link_rates, 1e-9)) ** SHARPNESS
    return strongest_route(cost / cost.max(initial=1e-300), closed)


@dataclass(frozen=True)
class Streamed:
    """One route for the whole tensor."""

    path_only: bool = False
    """Whether the route is always a path with one root, whoever is late."""
    collective: str = "allreduce"

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """The flows of the route."""
        size = int(find_collective(self.collective).blocks(demand, racks).size_bytes.sum())
        flows: list[Flow] = []
        if size > 0 and len(racks) > 1 and self.path_only:
            order, root = _path(setting)
            flows = path_flows(racks[order], root, size)
        elif size > 0 and len(racks) > 1:
            flows = best_route(setting, racks, size).flows(size)
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


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
            flows = ring_flows(setting.along_fibre(racks), size - on_thz)
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
