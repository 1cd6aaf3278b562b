"""The flows of one event that share a discipline: which of their chunks are ready, or sent."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import ChannelModel, link_budget_per_w
from thzsync.jit.held import hold
from thzsync.scenario import Thz
from thzsync.transfers import TransferGraph
from thzsync.wireless.bookkeeping import claim, mark_ready
from thzsync.wireless.state import (
    IDLE,
    NOT_BLOCKED,
    READY,
    SENT,
    GroupView,
    LinkTable,
    Medium,
    ReadyQueue,
)

if TYPE_CHECKING:
    from thzsync.wireless.discipline import Discipline


class Stages:
    """Barriers of one event: THz chunks that every stage has still to deliver."""

    def __init__(self, graph: TransferGraph) -> None:
        self.barrier = bool(graph.stage.any())
        """Whether there is more than one stage."""
        self._left = np.bincount(graph.stage, graph.thz_chunks, minlength=1).astype(np.int64)
        self.current = self._lowest() if self.barrier else 0
        """Lowest stage that is not done on THz."""

    def count(self, stage: IntArray, chunks: IntArray) -> None:
        """Chunks of flows in these stages are done (negative: there are more to do)."""
        np.subtract.at(self._left, stage, chunks)
        self.current = self._lowest()

    def _lowest(self) -> int:
        return int(np.argmax(self._left > 0))


class GroupLinks(NamedTuple):
    """Directed links between racks, each of which may serve several flows."""

    sender: IntArray
    receiver: IntArray
    first: IntArray
    """A flow of every link."""
    of_flow: IntArray
    """Link of every flow."""
    active: BoolArray
    """Links of which a flow has begun and is not done, as of the last look."""

    def any_of(self, flows: BoolArray) -> BoolArray:
        """Links of which some flow is marked."""
        return np.bincount(self.of_flow, flows, minlength=len(self.first)) > 0


class FlowGroup:
    """The overlay's view of some flows; the arrays in ``queue`` belong to the kernels.

    Flows and chunk rows are numbered within the group; ``flows`` has their numbers in the graph.
    """

    def __init__(
        self,
        number: int,
        graph: TransferGraph,
        index: int,
        discipline: Discipline,
        stages: Stages,
        budget_w: FloatArray,
        drawn_w: FloatArray,
        thz: Thz,
        medium: Medium,
        rank: int = 0,
        lookahead: bool = False,
    ) -> None:
        self.number = number
        self.index = index
        self.graph = graph
        self.discipline_name = discipline.name
        self.common, self.in_turn = discipline.common, discipline.in_turn
        self.floor_wide = bool(getattr(discipline, "floor_wide", False))
        """Whether racks of other events, too, decide what the group may begin."""
        flows: IntArray = np.flatnonzero(graph.discipline == index)
        self.flows = flows
        self.src, self.dst = graph.src[flows], graph.dst[flows]
        self.alone = len(flows) == graph.flows
        self.in_flight = 0
        self.rank = rank
        """Who has a lower one is served first."""
        self.fresh = True
        """Whether something about the group changed since a transmission was last attempted."""
        self.round_end_ps = 0
        """When the transmission that it began last ends [ps]."""
        self.ready = 0
        """Chunks that are ready and unsent."""
        self.blocked = False
        """Whether any flow was blocked when a transmission was last attempted."""
        self.gains_until_ps = -1
        self.rack_mask = sum(1 << rack for rack in graph.racks.tolist())
        """Racks of the event, as bits."""
        self.parameters: Any = None
        """The scenario's section for the discipline, if it has parameters."""
        self.chains, self.radio = thz.chains, medium.radio
        self.pins: BoolArray | None = None
        """Subbands that every flow's link keeps, by (flow, subband), where links are pinned."""
        self.short = False
        """Whether there were too few for all links that have something to send."""
        self._stages = stages
        self._thz = thz
        self.links = link_table_of(graph, flows, thz.subbands)
        self.queue = _ready_queue(graph, flows, budget_w, drawn_w, thz)
        self.outstanding = int(self.queue.owned.sum())
        self.gains = np.zeros((len(flows), thz.subbands))
        self.until_ps = np.zeros(len(flows), dtype=np.int64)
        """Until when neither the channel nor events before this one change what a flow would do
        next [ps]; set before every start."""
        self.lookahead = lookahead
        """Whether its trains may run beside transmissions of other events, until one ends."""
        rules = (discipline.guarded, discipline.steers, discipline.common)
        self.view = hold(GroupView(
            *medium, self.links, self.queue, flows, self.src, self.dst,
            _sums(self.queue.size_bytes), self.gains, self.until_ps, *rules,
        ))  # fmt: skip
        """All of this as kernels take it."""

    @cached_property
    def directed_links(self) -> GroupLinks:
        """The directed links of these flows."""
        sender, receiver = self.links.sender, self.links.receiver
        number = sender * len(self.graph.racks) + receiver
        _, first, of_flow = np.unique(number, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in the order in which flows name them
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = first[order]
        active = np.zeros(len(first), dtype=np.bool_)
        return GroupLinks(sender[first], receiver[first], first, place[of_flow], active)

    @cached_property
    def lead(self) -> FloatArray:
        """From 1 to 2 by flow: how long a chain of flows waits for it, beside the longest one."""
        graph = self.graph
        later = np.repeat(np.arange(graph.flows), np.diff(graph.after_start))
        behind = np.zeros(graph.flows, dtype=np.int64)
        while True:  # as often as the longest chain has flows
            longer = behind.copy()
            np.maximum.at(longer, graph.after, behind[later] + 1)
            if (longer == behind).all():
                return 1.0 + behind[self.flows] / max(int(behind.max(initial=0)), 1)
            behind = longer

    @property
    def stage(self) -> int:
        """Lowest barrier stage of the event that is not done on THz."""
        return self._stages.current

    def claim(self, limits_ps: IntArray, now_ps: int) -> None:
        """Lower to when the group could next begin something at racks, by rack [ps]."""
        soonest_ps = self.round_end_ps if self.in_flight and self.common else now_ps
        claim(self.view, limits_ps, soonest_ps, self.in_turn)

    def rows(self, graph_rows: IntArray) -> IntArray:
        """Rows of this group for chunk rows of the graph that belong to it."""
        if self.alone:
            return graph_rows
        flow = self.graph.chunk_flow[graph_rows]
        first = self.queue.first[np.searchsorted(self.flows, flow)]
        return first + graph_rows - self.graph.first_chunk[flow]

    def refresh(self, channel: ChannelModel, usable: BoolArray | None, now_ps: int) -> None:
        """Take the gains of this instant [ps]; ``usable`` by (flow, subband) where faults act."""
        self.gains[:] = channel.gains(self.src, self.dst, now_ps)
        self.gains_until_ps = channel.next_change_ps(now_ps)
        snr_per_w = self.queue.snr_per_w
        np.multiply(self.gains, link_budget_per_w(self._thz), out=snr_per_w)
        if usable is not None:
            snr_per_w *= usable

    def mark_ready(self, rows: IntArray) -> None:
        """The precedence of chunks is satisfied."""
        if not mark_ready(self.view, rows):
            raise ValueError(f"event {self.number}: some chunks were ready before, or do not exist")
        self.ready += len(rows)
        self.fresh = True

    def withdraw(self, rows: IntArray) -> None:
        """The fibre takes chunks that were not sent yet."""
        queue = self.queue
        state = queue.state[rows]
        if (state == SENT).any():
            raise ValueError(f"event {self.number}: chunks that were sent cannot be withdrawn")
        queue.state[rows] = IDLE
        flow = self._flow(rows)
        np.subtract.at(queue.owned, flow, 1)
        np.subtract.at(queue.ready, flow, state == READY)
        self.ready -= int(np.count_nonzero(state == READY))
        self.settle(flow, np.ones(len(rows), dtype=np.int64), len(rows))

    def adopt(self, rows: IntArray) -> None:
        """The overlay takes chunks over from the fibre; they are not ready yet.

        A sender that was to be silent may then use all its power; others keep their budget.
        """
        queue, flow = self.queue, self._flow(rows)
        np.add.at(queue.owned, flow, 1)
        silent = self.links.sender[flow]
        silent = silent[queue.budget_w[silent] == 0]
        queue.budget_w[silent] = self._thz.max_power_w
        self.settle(flow, np.full(len(rows), -1, dtype=np.int64), -len(rows))

    def settle(self, flow: IntArray, chunks: IntArray, total: int) -> None:
        """Count chunks of flows as done on THz; ``total`` is their sum."""
        self.outstanding -= total
        if self._stages.barrier:
            self._stages.count(self.queue.stage[flow], chunks)
        self.fresh = True

    def ready_rows(self, flow: int) -> IntArray:
        """Chunk rows of the graph that are ready and unsent, of one flow."""
        first, end = self.queue.first[flow], self.queue.first[flow + 1]
        ready = np.flatnonzero(self.queue.state[first:end] == READY)
        rows: IntArray = self.graph.first_chunk[self.flows[flow]] + ready
        return rows

    def _flow(self, rows: IntArray) -> IntArray:
        return np.searchsorted(self.queue.first, rows, side="right") - 1


def link_table_of(graph: TransferGraph, flows: IntArray, subbands: int) -> LinkTable:
    """Some flows of a graph by position, and which of them meet at each rack."""
    sender = np.searchsorted(graph.racks, graph.src[flows]).astype(np.int64)
    receiver = np.searchsorted(graph.racks, graph.dst[flows]).astype(np.int64)
    ends = np.concatenate((sender, receiver))
    touch = np.argsort(ends, kind="stable") % max(len(flows), 1)
    touch_start = _sums(np.bincount(ends, minlength=len(graph.racks)))
    edges = np.arange(len(flows) * subbands, dtype=np.int64)
    return LinkTable(sender, receiver, touch_start, touch.astype(np.int64), edges, edges.copy())


def _sums(values: IntArray) -> IntArray:
    """What stands before every value, and all of them."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))


def _ready_queue(
    graph: TransferGraph, flows: IntArray, budget_w: FloatArray, drawn_w: FloatArray, thz: Thz
) -> ReadyQueue:
    count, first = len(flows), _sums(graph.chunks[flows])
    alone = count == graph.flows
    size_bytes = graph.chunk_sizes[slice(None) if alone else np.isin(graph.chunk_flow, flows)]
    ready, sent, flying, lands_ps = np.zeros((4, count), dtype=np.int64)
    exponent = 8.0 * graph.chunk_bytes / (thz.longest_round_s * thz.subband_hz)
    return ReadyQueue(
        racks=graph.racks,
        budget_w=budget_w,
        stage=graph.stage[flows],
        first=first,
        size_bytes=size_bytes,
        state=np.full(len(size_bytes), IDLE, dtype=np.int8),
        owned=graph.thz_chunks[flows].astype(np.int64),
        ready=ready,
        lowest=first[1:].copy(),
        sent=sent,
        flying=flying,
        lands_ps=lands_ps,
        drawn_w=drawn_w,
        snr_per_w=np.zeros((count, thz.subbands)),
        needed_snr=math.expm1(exponent * math.log(2)) if exponent < 1000 else math.inf,
        blocked_ps=np.full(count, NOT_BLOCKED, dtype=np.int64),
        bundled=graph.bundled[flows],
        awaited=np.isin(flows, graph.after),
        shared=not alone,
    )
