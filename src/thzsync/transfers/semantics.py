"""Who holds which contribution before and after a transfer graph was carried out.

The state of a shard is a table of counts: how often rack r's buffer contains the contribution of
rack q. Racks work in place: an arriving chunk is added to the buffer (``reduces``) or overwrites
it, and a leaving flow carries the buffer as it stands. Precedence must fix what each flow carries;
where two orders would give two results the graph is refused, so one that passes is right in every
order that its precedence allows. What must be held at the end is said by the collective's blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.collectives import Blocks
from thzsync.jit import inner, kernel
from thzsync.transfers.graph import TransferGraph

FINE, SEND_RACE, OWN_RACE, OVERWRITE_RACE, WRONG_COUNT = range(5)


ANYTHING = -1
"""In a postcondition: the rack may end with whatever it likes."""


def conditions(blocks: Blocks, block: int, racks: IntArray) -> tuple[IntArray, IntArray]:
    """Counts by (holding rack, contributing rack), before and after, by position in ``racks``."""
    sources = np.searchsorted(racks, blocks.sources(block))
    targets = np.searchsorted(racks, blocks.targets(block))
    before = np.zeros((len(racks), len(racks)), dtype=np.int64)
    before[sources, sources] = 1
    wanted = np.full((len(racks), len(racks)), ANYTHING, dtype=np.int64)
    wanted[targets] = 0
    wanted[np.ix_(targets, sources)] = 1
    return before, wanted


@dataclass(frozen=True)
class Verdict:
    """The first broken fact of a transfer graph, or FINE."""

    code: int
    shard: int = 0
    a: int = 0
    """The flow (races) or the position of the holding rack (WRONG_COUNT)."""
    b: int = 0
    """The racing flow, or the position of the contributing rack."""
    count: int = 0
    """How often the contribution is held."""
    wanted: int = 1
    """How often it should be."""


@inner
def _earlier(order: IntArray, after_start: IntArray, after: IntArray) -> BoolArray:
    """earlier[f, g]: chunk k of flow g has always arrived before chunk k of flow f leaves."""
    flows = len(order)
    earlier = np.zeros((flows, flows), dtype=np.bool_)
    for f in order:
        for e in range(after_start[f], after_start[f + 1]):
            for g in range(flows):
                earlier[f, g] |= earlier[after[e], g]
            earlier[f, after[e]] = True
    return earlier


@inner
def _buffer(
    rack: int,
    arrived: BoolArray,
    rank: IntArray,
    dst: IntArray,
    reduces: BoolArray,
    earlier: BoolArray,
    carried: IntArray,
    own: IntArray,
    out: IntArray,
) -> tuple[int, int]:
    """A rack's buffer once the flows in ``arrived`` are in; (-1, -1), or two racing flows."""
    last = -1
    for g in range(len(dst)):
        if dst[g] == rack and arrived[g] and not reduces[g] and (last < 0 or rank[g] > rank[last]):
            last = g
    for q in range(len(out)):
        out[q] = own[q] if last < 0 else carried[last, q]
    for g in range(len(dst)):
        if dst[g] == rack and arrived[g] and g != last:
            if last >= 0 and not earlier[last, g]:
                return g, last
            if last < 0:
                for q in range(len(out)):
                    out[q] += carried[g, q]
    return -1, -1


@kernel
def judge_shard(
    src: IntArray,
    dst: IntArray,
    local: BoolArray,
    reduces: BoolArray,
    order: IntArray,
    after_start: IntArray,
    after: IntArray,
    before: IntArray,
    wanted: IntArray,
) -> tuple[int, int, int, int]:
    """Follow the counts of one shard through its flows: (code, a, b, count) as in Verdict.

    Racks are positions 0..N-1 and flows are numbered within the shard.
    """
    flows, racks = len(src), len(before)
    earlier = _earlier(order, after_start, after)
    rank = np.empty(flows, dtype=np.int64)
    for k in range(flows):
        rank[order[k]] = k
    carried = np.zeros((flows, racks), dtype=np.int64)
    for f in order:
        own_is_there = local[f] or before[src[f], src[f]] == 0
        for g in range(flows):
            if src[g] == src[f] and local[g] and earlier[f, g]:
                own_is_there = True
            if dst[g] == src[f] and not earlier[f, g] and not earlier[g, f]:
                return SEND_RACE, f, g, 0
        if not own_is_there:
            return OWN_RACE, f, -1, 0
        g, h = _buffer(
            src[f], earlier[f], rank, dst, reduces, earlier, carried, before[src[f]], carried[f]
        )
        if g >= 0:
            return OVERWRITE_RACE, g, h, 0
    held = np.zeros(racks, dtype=np.int64)
    everything = np.ones(flows, dtype=np.bool_)
    for r in range(racks):
        if wanted[r, 0] == ANYTHING:
            continue
        g, h = _buffer(r, everything, rank, dst, reduces, earlier, carried, before[r], held)
        if g >= 0:
            return OVERWRITE_RACE, g, h, 0
        for q in range(racks):
            if held[q] != wanted[r, q]:
                return WRONG_COUNT, r, q, held[q]
    return FINE, -1, -1, 0


def judge(plan: TransferGraph, order: IntArray) -> Verdict:
    """Whether a graph turns the precondition into the postcondition, shard by shard."""
    src, dst = np.searchsorted(plan.racks, plan.src), np.searchsorted(plan.racks, plan.dst)
    within = np.zeros(plan.flows, dtype=np.int64)
    waits = np.diff(plan.after_start)
    for shard in np.unique(plan.shard[~_plainly_right(plan)]):
        member = plan.shard == shard
        flows = np.flatnonzero(member)
        within[flows] = np.arange(len(flows))
        edges = np.repeat(member, waits)
        before, wanted = conditions(plan.blocks, int(plan.block[flows[0]]), plan.racks)
        code, a, b, count = judge_shard(
            src[flows],
            dst[flows],
            plan.local[flows],
            plan.reduces[flows],
            within[order[member[order]]],
            np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(waits[flows]))),
            within[plan.after[edges]],
            before,
            wanted,
        )
        if code != FINE:
            expected = int(wanted[a, b]) if code == WRONG_COUNT else 1
            if code != WRONG_COUNT:
                a, b = int(flows[a]), int(flows[b])
            return Verdict(code, int(shard), a, b, count, expected)
    return Verdict(FINE)


def _plainly_right(plan: TransferGraph) -> BoolArray:
    """Flows that carry a shard from its only source to its only target, and nothing else does."""
    _, member, count = np.unique(plan.shard, return_inverse=True, return_counts=True)
    blocks = plan.blocks
    source, target = np.full(len(blocks), -1), np.full(len(blocks), -1)
    source[blocks.single] = blocks.source[blocks.source_start[blocks.single]]
    target[blocks.single] = blocks.target[blocks.target_start[blocks.single]]
    right: BoolArray = (count[member] == 1) & plan.local & (np.diff(plan.after_start) == 0)
    right &= (plan.src == source[plan.block]) & (plan.dst == target[plan.block])
    return right
