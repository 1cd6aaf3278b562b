"""An event between its activation and its completion."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.collectives import Plan
from thzsync.coordinator import Action, Context
from thzsync.optical import EXTERNAL, JOIN, TIMER, WIRED, ChunkBatch
from thzsync.wireless import Round
from thzsync.workload import Event


@dataclass(eq=False)
class ActiveEvent:
    """One event on both fabrics."""

    number: int
    event: Event
    plan: Plan
    context: Context
    action: Action
    release_ps: int
    delays_ps: IntArray
    base: int
    """Node of its first chunk in the optical kernel; the last node is the event's join."""
    on_thz: BoolArray
    """The fabric that carries each chunk, as it stands now."""
    rounds: list[Round] = field(default_factory=list)

    def chunk_of_node(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Flow and chunk of kernel nodes."""
        local = nodes - self.base
        flow = self.plan.chunk_flow[local]
        return flow, local - self.plan.first_chunk[flow]

    def nodes_of_round(self, served: Round) -> IntArray:
        """Kernel nodes of the chunks that a round delivered."""
        first = self.base + self.plan.first_chunk[served.flow] + served.first_chunk
        if (served.chunks == 1).all():
            return first
        return np.concatenate(
            [np.arange(a, a + n) for a, n in zip(first, served.chunks, strict=True)]
        )


def decided_on_thz(plan: Plan, thz_chunks: IntArray) -> BoolArray:
    """Which chunks an action gives to THz: the first n of every flow."""
    position = np.arange(len(plan.chunk_flow)) - plan.first_chunk[plan.chunk_flow]
    on_thz: BoolArray = position < thz_chunks[plan.chunk_flow]
    return on_thz


def chunk_batch(plan: Plan, on_thz: BoolArray, delays_ps: IntArray, release_ps: int) -> ChunkBatch:
    """The event as a graph of chunks: all chunks, a timer per late sender, and a join of chunks.

    A late rack that only receives has no timer: it delays nobody.
    """
    chunks = len(plan.chunk_flow)
    late = np.flatnonzero((delays_ps > 0) & np.isin(plan.racks, plan.src[plan.local]))
    timers = len(late)
    join = chunks + timers
    kind = np.full(join + 1, TIMER, dtype=np.int64)
    kind[:chunks] = np.where(on_thz, EXTERNAL, WIRED)
    kind[join] = JOIN

    before, behind = _chunk_edges(plan)
    gated, timer = _timer_edges(plan, late)
    node_release = np.zeros(join + 1, dtype=np.int64)
    node_release[chunks:join] = release_ps + delays_ps[late]
    notify = np.zeros(join + 1, dtype=np.bool_)
    notify[join] = True
    pad = np.zeros(timers + 1, dtype=np.int64)
    return ChunkBatch.build(
        kind,
        src=np.concatenate((plan.src[plan.chunk_flow], pad)),
        dst=np.concatenate((plan.dst[plan.chunk_flow], pad)),
        size_bytes=np.concatenate((plan.chunk_sizes, pad)),
        flow=np.concatenate((plan.chunk_flow, pad)),
        before=np.concatenate((before, chunks + timer, np.arange(chunks))),
        after=np.concatenate((behind, gated, np.full(chunks, join))),
        release_ps=node_release,
        notify=notify,
    )


def _chunk_edges(plan: Plan) -> tuple[IntArray, IntArray]:
    """Chunk k after chunk k of every flow in ``after``."""
    degree = np.diff(plan.after_start)
    successor = np.repeat(np.arange(plan.flows), degree)
    count = plan.chunks[successor]
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    before = np.repeat(plan.first_chunk[plan.after], count) + within
    behind = np.repeat(plan.first_chunk[successor], count) + within
    return before, behind


def _timer_edges(plan: Plan, late: IntArray) -> tuple[IntArray, IntArray]:
    """Chunks that carry a late rack's own data, and that rack's position among the late ones."""
    timer_of_rack = np.full(len(plan.racks), -1, dtype=np.int64)
    timer_of_rack[late] = np.arange(len(late))
    timer_of_flow = timer_of_rack[np.searchsorted(plan.racks, plan.src)]
    timer_of_flow[~plan.local] = -1
    timer = timer_of_flow[plan.chunk_flow]
    gated = np.flatnonzero(timer >= 0)
    return gated, timer[gated]
