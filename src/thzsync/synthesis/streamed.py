"""AllReduce streamed chunk by chunk on links that never turn: round a cycle, or along a path.

Round a cycle every link carries 2(N - 1)/N of the tensor in one direction and every rack sends from
the first moment to the last, which is all that its subbands can do. It needs everybody's data from
the start and an even number of racks (neighbours send on disjoint halves of the band). Along a
path every link carries the whole tensor both ways, but all that is ready is summed before the
late rack's data is there. Several late racks let their data meet first
(``stragglers.Meeting``), unless one is so much later that the others' has passed by then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.synthesis.method import Setting
from thzsync.synthesis.paths import link_rates, path_and_root, path_flows, route_cost
from thzsync.synthesis.rings import ring_flows
from thzsync.synthesis.stragglers import Meeting, meeting, path_load
from thzsync.transfers import Flow, TransferGraph, graph_of

MOST_CLOSED: Final = 32
"""Racks up to which a cycle is worth its flows, which grow with their square; what it gains over a
path shrinks with their number."""


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


def best_route(setting: Setting, racks: IntArray, size: int) -> Route | Meeting:
    """By who is late, and by the slowest link where nobody is."""
    n, late = len(racks), np.flatnonzero(setting.delay_s > 0)
    even = n >= 4 and n % 2 == 0 and setting.thz.subbands >= 2
    order, root = path_and_root(setting)
    path = Route(racks[order], root)
    if n >= 4 and len(late) >= 2:
        met, load = meeting(setting, racks, size)
        return met if load < path_load(setting, order, size) else path
    if not even or n > MOST_CLOSED or len(late):
        return path
    rate = link_rates(setting)
    cycle = _cycle(rate)
    closed = _slowest(rate, cycle, np.roll(cycle, -1)) * n / (n - 1)
    opened = _slowest(rate, order[:-1], order[1:])
    return Route(racks[cycle], None) if closed > opened else path


def _cycle(rate: FloatArray) -> IntArray:
    from thzsync.synthesis.routes import strongest_route  # compiled: not for who only asks names

    return strongest_route(route_cost(rate), True)


def _slowest(rate: FloatArray, src: IntArray, dst: IntArray) -> float:
    return float(rate[src, dst].min())


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
        if size > 0 and len(racks) > 1:
            route = _path(setting, racks) if self.path_only else best_route(setting, racks, size)
            flows = route.flows(size)
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


def _path(setting: Setting, racks: IntArray) -> Route:
    order, root = path_and_root(setting)
    return Route(racks[order], root)
