"""Rooted trees: roots, growth, and the flows that reduce and broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, Tensor, find_collective, split_bytes
from thzsync.elementary import log10
from thzsync.synthesis.method import Setting
from thzsync.transfers import Flow, TransferGraph, graph_of

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

    @cached_property
    def _below(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.parent]
        for v in self.order[1:]:
            below[self.parent[v]].append(v)
        return below

    def children(self, position: int) -> list[int]:
        """Positions directly below ``position``."""
        return self._below[position]


@dataclass(frozen=True)
class Trees:
    """Shards of the tensor on trees with distinct roots, all with fan-out limit N_c."""

    single: bool = False
    """One unsharded tree instead of N_c."""
    channel_aware: bool = True
    """Whether gains choose roots, insertion order and parents (otherwise rack order does)."""
    delay_aware: bool = True
    """Whether delayed racks come first, near the roots."""

    collective: str = "allreduce"
    """``allreduce``, or anything else that is one block from all racks to all racks."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """Reduce flows from child to parent, then broadcast flows back."""
        size_bytes = int(find_collective(self.collective).blocks(demand, racks).size_bytes.sum())
        n = len(racks)
        count = 1 if self.single else min(setting.thz.subbands, n)
        flows: list[Flow] = []
        if n > 1:
            link_db = link_db_of(setting.gains) if self.channel_aware else np.zeros((n, n))
            delay_s = setting.delay_s if self.delay_aware else np.zeros(n)
            trees = grow_trees(link_db, delay_s, count, fan_out=setting.thz.subbands)
            shards = split_bytes(size_bytes, count)
            for shard, (tree, size) in enumerate(zip(trees, shards.tolist(), strict=True)):
                if size > 0:
                    flows += reduce_flows(tree, racks, size, shard, first=len(flows))
                    flows += spread_flows(tree, racks, size, shard, first=len(flows))
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


@dataclass(frozen=True)
class RootedTrees:
    """Broadcast or reduce on trees that all have the demand's root, one per subband.

    Every tree puts other racks near the root, so that the work of passing on is shared.
    """

    collective: str
    reduces: bool
    """Towards the root (summing up) instead of away from it."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One shard per tree; flows of one direction only."""
        find_collective(self.collective).check(demand, f"{self.collective} demand", racks)
        assert isinstance(demand, Tensor)
        assert demand.root is not None
        root = int(np.searchsorted(racks, demand.root))
        flows: list[Flow] = []
        trees = _rooted_trees(root, setting) if len(racks) > 1 else []
        shards = split_bytes(demand.tensor_bytes, max(1, len(trees))).tolist()
        for shard, (tree, size) in enumerate(zip(trees, shards, strict=False)):
            if size > 0 and self.reduces:
                flows += reduce_flows(tree, racks, size, shard, first=len(flows))
            elif size > 0:
                flows += spread_flows(tree, racks, size, shard, len(flows), reduced=False)
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


def _rooted_trees(root: int, setting: Setting) -> list[Tree]:
    """Trees with one root; in tree t the t-th best connected racks come first."""
    link_db = link_db_of(setting.gains)
    reach_db = _reach_db(link_db)
    ranked = sorted(range(len(link_db)), key=lambda v: (-setting.delay_s[v], -reach_db[v], v))
    others = [v for v in ranked if v != root]
    count = min(setting.thz.subbands, len(others))
    return [
        _grow(root, [root, *others[t:], *others[:t]], link_db, setting.thz.subbands)
        for t in range(count)
    ]


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
    """Every rack below the best connected one among those nearest to the root with room."""
    parent = [-1] * len(insertion)
    room = [fan_out] * len(insertion)
    order, level, below = [root], [root], list[int]()
    gain_db = link_db.T.tolist()  # by (child, parent)
    for v in insertion:
        if v == root:
            continue
        best = max(level, key=gain_db[v].__getitem__)  # the earliest of equals
        parent[v] = best
        order.append(v)
        below.append(v)
        room[best] -= 1
        if not room[best]:
            level.remove(best)
        if not level:
            level, below = below, []
    return Tree(tuple(order), tuple(parent))


def reduce_flows(tree: Tree, racks: IntArray, size: int, shard: int, first: int) -> list[Flow]:
    """Flows ``first``, ... that sum a shard up towards the root (eq:ar_reduce_release)."""
    below = tree.order[1:]
    number = {v: first + k for k, v in enumerate(below)}
    return [
        Flow(
            int(racks[v]), int(racks[tree.parent[v]]), size,
            after=tuple(number[u] for u in tree.children(v)), shard=shard, reduces=True,
        )
        for v in below
    ]  # fmt: skip


def spread_flows(
    tree: Tree, racks: IntArray, size: int, shard: int, first: int, reduced: bool = True
) -> list[Flow]:
    """Flows that send a shard from the root to all (eq:ar_root_join, eq:ar_broadcast_release).

    Where it was ``reduced`` first, the flows of :func:`reduce_flows` stand right before ``first``.
    """
    below = tree.order[1:]
    arrival = {v: first + k for k, v in enumerate(below)}
    sums = {v: first - len(below) + k for k, v in enumerate(below)} if reduced else {}
    joined = tuple(sums[v] for v in tree.children(tree.root) if v in sums)
    flows = []
    for v in below:
        u = tree.parent[v]
        at_root = u == tree.root
        after = joined if at_root else (arrival[u],)
        flows.append(
            Flow(int(racks[u]), int(racks[v]), size, after=after, local=at_root, shard=shard)
        )
    return flows


def link_db_of(gains: FloatArray) -> FloatArray:
    """Mean gain of every pair over the subbands [dB]."""
    floor = np.finfo(np.float64).tiny  # a dead link is very weak, not an error
    mean_db: FloatArray = (10 * log10(np.maximum(gains, floor))).mean(axis=2)
    return mean_db


def _reach_db(link_db: FloatArray) -> FloatArray:
    """Median gain of every rack to the others [dB]: how well it is connected."""
    n = len(link_db)
    others = ~np.eye(n, dtype=np.bool_)
    median: FloatArray = np.median(link_db[others].reshape(n, n - 1), axis=1)
    return median
