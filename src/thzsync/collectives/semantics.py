"""What a collective means: who holds which contribution before and after it.

The state of an AllReduce is a table of counts: how often rack r's buffer of a shard contains the
contribution of rack q. Racks work in place: an arriving chunk is added to the buffer (``reduces``)
or overwrites it, and a leaving flow carries the buffer as it stands. The plan's precedence must
fix what each flow carries; where two orders would give two results the plan is refused, so a plan
that passes is right in every order its precedence allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.collectives.plan import Plan
from thzsync.jit import kernel

FINE, SEND_RACE, OWN_RACE, OVERWRITE_RACE, WRONG_COUNT = range(5)


def precondition(racks: int) -> IntArray:
    """Every rack holds its own contribution once, and no other."""
    return np.eye(racks, dtype=np.int64)


def postcondition(racks: int) -> IntArray:
    """Every rack holds every contribution exactly once."""
    return np.ones((racks, racks), dtype=np.int64)


@dataclass(frozen=True)
class Verdict:
    """The first broken fact of an AllReduce plan, or FINE."""

    code: int
    shard: int = 0
    a: int = 0
    """The flow (races) or the position of the holding rack (WRONG_COUNT)."""
    b: int = 0
    """The racing flow, or the position of the contributing rack."""
    count: int = 0
    """How often the contribution is held, where it should be once."""


@kernel
def topological_order(after_start: IntArray, after: IntArray) -> IntArray:
    """Flows so that each comes after those it waits for; fewer than all flows on a cycle."""
    flows = len(after_start) - 1
    successors = np.zeros(flows + 1, dtype=np.int64)
    for p in after:
        successors[p + 1] += 1
    begin = np.cumsum(successors)
    filled = begin[:-1].copy()
    follower = np.empty(len(after), dtype=np.int64)
    for f in range(flows):
        for e in range(after_start[f], after_start[f + 1]):
            follower[filled[after[e]]] = f
            filled[after[e]] += 1
    waiting = after_start[1:] - after_start[:-1]
    order = np.empty(flows, dtype=np.int64)
    found = 0
    for f in range(flows):
        if waiting[f] == 0:
            order[found] = f
            found += 1
    done = 0
    while done < found:
        for e in range(begin[order[done]], begin[order[done] + 1]):
            waiting[follower[e]] -= 1
            if waiting[follower[e]] == 0:
                order[found] = follower[e]
                found += 1
        done += 1
    return order[:found]


@kernel
def _earlier(order: IntArray, after_start: IntArray, after: IntArray) -> BoolArray:
    """earlier[f, g]: chunk k of flow g has always arrived before chunk k of flow f leaves."""
    flows = len(order)
    earlier = np.zeros((flows, flows), dtype=np.bool_)
    for f in order:
        for e in range(after_start[f], after_start[f + 1]):
            earlier[f] |= earlier[after[e]]
            earlier[f, after[e]] = True
    return earlier


@kernel
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
    out[:] = own if last < 0 else carried[last]
    for g in range(len(dst)):
        if dst[g] == rack and arrived[g] and g != last:
            if last >= 0 and not earlier[last, g]:
                return g, last
            if last < 0:
                out += carried[g]
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
    rank[order] = np.arange(flows)
    carried = np.zeros((flows, racks), dtype=np.int64)
    for f in order:
        own_is_there = local[f]
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
        g, h = _buffer(r, everything, rank, dst, reduces, earlier, carried, before[r], held)
        if g >= 0:
            return OVERWRITE_RACE, g, h, 0
        for q in range(racks):
            if held[q] != wanted[r, q]:
                return WRONG_COUNT, r, q, held[q]
    return FINE, -1, -1, 0


def judge_reduction(plan: Plan, order: IntArray) -> Verdict:
    """Whether an AllReduce plan turns the precondition into the postcondition, shard by shard."""
    racks = len(plan.racks)
    before, wanted = precondition(racks), postcondition(racks)
    src, dst = np.searchsorted(plan.racks, plan.src), np.searchsorted(plan.racks, plan.dst)
    within = np.zeros(plan.flows, dtype=np.int64)
    waits = np.diff(plan.after_start)
    for shard in np.unique(plan.shard):
        member = plan.shard == shard
        flows = np.flatnonzero(member)
        within[flows] = np.arange(len(flows))
        edges = np.repeat(member, waits)
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
            if code != WRONG_COUNT:
                a, b = int(flows[a]), int(flows[b])
            return Verdict(code, int(shard), a, b, count)
    return Verdict(FINE)
