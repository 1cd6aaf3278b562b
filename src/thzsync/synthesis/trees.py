"""AllReduce on rooted trees: roots, growth, and the flows that reduce and broadcast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, Plan, split_bytes
from thzsync.synthesis.flows import Flow, as_reduction, reduction_plan
from thzsync.synthesis.method import Context

GOOD_ENOUGH_QUANTILE = 0.25
"""A delayed rack may be a root unless it is among the worst connected quarter of the racks."""


@dataclass(frozen=True)
class Tree:
    """A rooted spanning tree over positions 0..n-1."""

    order: tuple[int, ...]
    """Positions from the root downwards: every parent stands before its children."""
    parent: tuple[int, ...]
    """Parent of every position; the root's is -1."""

    @property
    def root(self) -> int:
        """The position at which the shard is aggregated."""
        return self.order[0]

    def children(self, position: int) -> list[int]:
        """Positions directly below ``position``."""
        return [v for v in self.order if self.parent[v] == position]


@dataclass(frozen=True)
class Trees:
    """Shards of the tensor on trees with distinct roots, all with fan-out limit N_c."""

    single: bool = False
    """One unsharded tree instead of N_c."""
    channel_aware: bool = True
    """Whether gains choose roots, insertion order and parents (otherwise rack order does)."""
    delay_aware: bool = True
    """Whether delayed racks come first, near the roots."""

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """Reduce flows from child to parent, then broadcast flows back."""
        reduction = as_reduction(demand)
        n = len(racks)
        count = 1 if self.single else min(context.thz.subbands, n)
        flows: list[Flow] = []
        if n > 1:
            link_db = _link_db(context.gains) if self.channel_aware else np.zeros((n, n))
            delay_s = context.delay_s if self.delay_aware else np.zeros(n)
            trees = grow_trees(link_db, delay_s, count, fan_out=context.thz.subbands)
            shards = split_bytes(reduction.tensor_bytes, count)
            for shard, (tree, size) in enumerate(zip(trees, shards.tolist(), strict=True)):
                if size > 0:
                    flows += _tree_flows(tree, racks, size, shard, first=len(flows))
        return reduction_plan(reduction, racks, chunk_bytes, flows)


def grow_trees(link_db: FloatArray, delay_s: FloatArray, count: int, fan_out: int) -> list[Tree]:
    """``count`` trees with distinct roots, from pair gains [dB] and rack delays [s]."""
    reach_db = _reach_db(link_db)
    racks = range(len(delay_s))
    # Delayed racks first, larger delays before smaller; then the better connected.
    insertion = sorted(racks, key=lambda v: (-delay_s[v], -reach_db[v], v))
    return [_grow(root, insertion, link_db, fan_out) for root in _roots(reach_db, delay_s, count)]


def _roots(reach_db: FloatArray, delay_s: FloatArray, count: int) -> list[int]:
    good_enough_db = np.quantile(reach_db, GOOD_ENOUGH_QUANTILE)
    racks = range(len(delay_s))
    delayed = [v for v in racks if delay_s[v] > 0 and reach_db[v] >= good_enough_db]
    delayed.sort(key=lambda v: (-delay_s[v], v))
    others = sorted((v for v in racks if v not in delayed), key=lambda v: (-reach_db[v], v))
    return (delayed + others)[:count]


def _grow(root: int, insertion: list[int], link_db: FloatArray, fan_out: int) -> Tree:
    parent = [-1] * len(insertion)
    depth = [0] * len(insertion)
    children = [0] * len(insertion)
    order = [root]
    for v in insertion:
        if v == root:
            continue
        open_racks = [u for u in order if children[u] < fan_out]
        best = min(open_racks, key=lambda u: (depth[u], -link_db[u, v], order.index(u)))
        parent[v], depth[v] = best, depth[best] + 1
        children[best] += 1
        order.append(v)
    return Tree(tuple(order), tuple(parent))


def _tree_flows(tree: Tree, racks: IntArray, size: int, shard: int, first: int) -> list[Flow]:
    below = tree.order[1:]
    reduce_flow = {v: first + k for k, v in enumerate(below)}
    broadcast_flow = {v: first + len(below) + k for k, v in enumerate(below)}

    def into(v: int) -> tuple[int, ...]:
        return tuple(reduce_flow[u] for u in tree.children(v))

    flows = []
    for v in below:  # eq:ar_reduce_release
        src, dst = int(racks[v]), int(racks[tree.parent[v]])
        flows.append(Flow(src, dst, size, after=into(v), shard=shard, reduces=True))
    for v in below:  # eq:ar_root_join, eq:ar_broadcast_release
        u = tree.parent[v]
        at_root = u == tree.root
        after = into(u) if at_root else (broadcast_flow[u],)
        flows.append(
            Flow(int(racks[u]), int(racks[v]), size, after=after, local=at_root, shard=shard)
        )
    return flows


def _link_db(gains: FloatArray) -> FloatArray:
    floor = np.finfo(np.float64).tiny  # a dead link is very weak, not an error
    mean_db: FloatArray = (10 * np.log10(np.maximum(gains, floor))).mean(axis=2)
    return mean_db


def _reach_db(link_db: FloatArray) -> FloatArray:
    """Median gain of every rack to the others [dB]: how well it is connected."""
    n = len(link_db)
    others = ~np.eye(n, dtype=np.bool_)
    median: FloatArray = np.median(link_db[others].reshape(n, n - 1), axis=1)
    return median
