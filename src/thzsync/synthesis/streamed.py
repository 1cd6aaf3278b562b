"""AllReduce streamed chunk by chunk on links that never turn: round a cycle, or along a path.

Round a cycle every link carries 2(N - 1)/N of the tensor in one direction and every rack sends from
the first moment to the last, which is all that its subbands can do. It needs everybody's data from
the start and an even number of racks (neighbours send on disjoint halves of the band). Along a
path every link carries the whole tensor both ways, but all that is ready is summed before the
late rack's data is there. Two late racks of an even number are the two ends of a path and each the
root of one half of the tensor: when their data comes, they exchange it directly and the sums run
along the path in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, find_collective, split_bytes
from thzsync.synthesis.method import Setting
from thzsync.synthesis.paths import link_rates, path_and_root, path_flows, route_cost
from thzsync.synthesis.rings import ring_flows
from thzsync.transfers import Flow, TransferGraph, graph_of

MOST_CLOSED: Final = 32
"""Racks up to which a cycle is worth its flows, which grow with their square; what it gains over a
path shrinks with their number."""


@dataclass(frozen=True, eq=False)
class Route:
    """Racks in the order in which they are visited."""

    racks: IntArray
    roots: tuple[int, ...]
    """Places of the racks that sum up at last; none where everybody does, round a cycle."""

    def links(self) -> tuple[IntArray, IntArray]:
        """Sources and destinations of the links, in one direction."""
        following = np.roll(self.racks, -1)
        end = len(self.racks) - (len(self.roots) == 1)
        return self.racks[:end], following[:end]

    def flows(self, size: int, shard: int = 0, first: int = 0, thz: bool = False) -> list[Flow]:
        """Flows ``first``, ... of shards ``shard``, ... that reduce and spread so many bytes."""
        if len(self.roots) == 1:
            return path_flows(self.racks, self.roots[0], size, shard, first, thz)
        if len(self.roots) == 2:
            return _flows_of_two(self.racks, size, shard, first, thz)
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


def best_route(setting: Setting, racks: IntArray) -> Route:
    """By who is late, and by the slowest link where nobody is."""
    n, late = len(racks), np.flatnonzero(setting.delay_s > 0)
    even = n >= 4 and n % 2 == 0 and setting.thz.subbands >= 2
    if even and len(late) == 2:
        return Route(racks[_between(setting, *late.tolist())], (0, n - 1))
    order, root = path_and_root(setting)
    path = Route(racks[order], (root,))
    if not even or n > MOST_CLOSED or len(late):
        return path
    rate = link_rates(setting)
    cycle = _cycle(rate)
    closed = _slowest(rate, cycle, np.roll(cycle, -1)) * n / (n - 1)
    opened = _slowest(rate, order[:-1], order[1:])
    return Route(racks[cycle], ()) if closed > opened else path


def _cycle(rate: FloatArray) -> IntArray:
    from thzsync.synthesis.routes import strongest_route  # compiled: not for who only asks names

    return strongest_route(route_cost(rate), True)


def _between(setting: Setting, one: int, other: int) -> IntArray:
    """A path through all racks from one to the other."""
    from thzsync.synthesis.routes import strongest_between  # compiled: not for who only asks names

    return strongest_between(route_cost(link_rates(setting)), one, other)


def _slowest(rate: FloatArray, src: IntArray, dst: IntArray) -> float:
    return float(rate[src, dst].min())


def _flows_of_two(racks: IntArray, size: int, shard: int, first: int, thz: bool) -> list[Flow]:
    """Each end of the path is the root of one half: summed towards it, then sent to the other.

    Along the way of a half, counted from its root, step k < N - 2 sums up from rack k + 1 to rack
    k, step N - 2 brings the other root's own data straight to this one, and the steps after it
    send the sums from rack to rack. Steps of both halves alternate, so that the two directions of
    a link stand side by side when subbands are dealt.
    """
    n = len(racks)
    ways = [
        way
        for way in zip((racks, racks[::-1]), split_bytes(size, 2).tolist(), strict=True)
        if way[1]
    ]
    flows: list[Flow] = []
    for step in range(2 * n - 2):
        for half, (way, part) in enumerate(ways):
            if step < n - 2:
                src, dst, after = step + 1, step, [step + 1] if step < n - 3 else []
            elif step == n - 2:
                src, dst, after = n - 1, 0, []
            else:
                src = step - (n - 1)
                dst, after = src + 1, [0, n - 2] if src == 0 else [step - 1]
            flows.append(
                Flow(
                    int(way[src]), int(way[dst]), part,
                    after=tuple(first + len(ways) * k + half for k in after),
                    local=step <= n - 1, shard=shard + half, reduces=step <= n - 2,
                    bundled=False, thz=thz, discipline="pipeline",
                )
            )  # fmt: skip
    return flows


@dataclass(frozen=True)
class Streamed:
    """One route for the whole tensor."""

    collective: str = "allreduce"

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """The flows of the route."""
        size = int(find_collective(self.collective).blocks(demand, racks).size_bytes.sum())
        flows = best_route(setting, racks).flows(size) if size > 0 and len(racks) > 1 else []
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)
