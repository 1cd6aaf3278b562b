"""An event on the overlay: which of its chunks are ready, sent, delivered."""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import ChannelModel, link_budget_per_w
from thzsync.collectives import Plan
from thzsync.scenario import Thz
from thzsync.synthesis import Method, Rounds
from thzsync.wireless.state import FOREIGN, NOT_BLOCKED, PENDING, READY, SENT, Frontier, Web


class ActiveEvent:
    """The overlay's view of one event; the arrays in ``frontier`` belong to the kernels."""

    def __init__(
        self, number: int, plan: Plan, method: Method, thz_chunks: IntArray, budget_w: FloatArray,
        thz: Thz,
    ) -> None:  # fmt: skip
        self.number = number
        self.plan = plan
        self.method = method
        self.streaming = method.rounds is Rounds.STREAMING
        self.rounds = 0
        self.in_flight = 0
        self.fresh = True
        """Whether something about the event changed since a round was last attempted."""
        self.gains_until_ps = -1
        self.rack_mask = sum(1 << int(rack) for rack in plan.racks)
        self.outstanding = int(thz_chunks.sum())
        self._barrier = bool(plan.stage.any())
        self._stage_left = np.bincount(plan.stage, thz_chunks, minlength=1).astype(np.int64)
        self._thz = thz
        self.gains = np.zeros((plan.flows, thz.subbands))
        self.bytes_before = np.concatenate(([0], np.cumsum(plan.chunk_sizes)))
        """Bytes in all chunks before a row."""
        self.web = web_of(plan, thz.subbands)
        self.frontier = _frontier(plan, thz_chunks, budget_w, thz)

    @property
    def stage(self) -> int:
        """Lowest barrier stage that is not done on THz."""
        return int(np.argmax(self._stage_left > 0)) if self._barrier else 0

    def refresh(self, channel: ChannelModel, usable: BoolArray | None, now_ps: int) -> None:
        """Take the gains of this instant [ps]; ``usable`` by (flow, subband) where faults act."""
        plan = self.plan
        self.gains = channel.gains(plan.src, plan.dst, now_ps)
        self.gains_until_ps = channel.next_change_ps(now_ps)
        snr_per_w = self.frontier.snr_per_w
        np.multiply(self.gains, link_budget_per_w(self._thz), out=snr_per_w)
        if usable is not None:
            snr_per_w *= usable
        if self.method.one_subband and plan.flows:
            common = int(np.argmax(snr_per_w.min(axis=0)))
            snr_per_w[:, np.arange(self._thz.subbands) != common] = 0.0
        if self.method.channel_aware:
            self.web.order[:] = np.argsort(-snr_per_w, axis=None, kind="stable")
            self.web.rank[self.web.order] = np.arange(len(self.web.order))

    def mark_ready(self, flow: int, chunk: int) -> None:
        """A chunk's precedence is satisfied."""
        frontier = self.frontier
        row = int(frontier.first[flow]) + chunk
        if frontier.state[row] != PENDING:
            raise ValueError(
                f"event {self.number}: flow {flow} chunk {chunk} is not pending on THz"
            )
        frontier.state[row] = READY
        frontier.ready[flow] += 1
        frontier.lowest[flow] = min(frontier.lowest[flow], row)
        self.fresh = True

    def mark_ready_many(self, flow: IntArray, chunk: IntArray) -> None:
        """The same for many chunks."""
        frontier = self.frontier
        rows = frontier.first[flow] + chunk
        if (frontier.state[rows] != PENDING).any():
            raise ValueError(f"event {self.number}: some chunks are not pending on THz")
        frontier.state[rows] = READY
        np.add.at(frontier.ready, flow, 1)
        np.minimum.at(frontier.lowest, flow, rows)
        self.fresh = True

    def withdraw(self, flow: int, chunk: int) -> None:
        """The fibre takes a chunk that was not sent yet."""
        frontier = self.frontier
        row = int(frontier.first[flow]) + chunk
        state = int(frontier.state[row])
        if state in (FOREIGN, SENT):
            raise ValueError(f"event {self.number}: flow {flow} chunk {chunk} cannot be withdrawn")
        frontier.state[row] = FOREIGN
        frontier.owned[flow] -= 1
        frontier.ready[flow] -= state == READY
        self.settle(flow, 1)

    def adopt(self, flow: int, chunk: int) -> None:
        """The overlay takes a chunk over from the fibre; it is not ready yet.

        A sender that was to be silent may then use all its power; others keep their budget.
        """
        frontier = self.frontier
        row = int(frontier.first[flow]) + chunk
        if frontier.state[row] != FOREIGN:
            raise ValueError(f"event {self.number}: flow {flow} chunk {chunk} is on THz already")
        frontier.state[row] = PENDING
        frontier.owned[flow] += 1
        if frontier.budget_w[self.web.sender[flow]] == 0:
            frontier.budget_w[self.web.sender[flow]] = self._thz.max_power_w
        self.settle(flow, -1)

    def settle(self, flow: int, chunks: int) -> None:
        """Count chunks of a flow as done on THz."""
        self.outstanding -= chunks
        self._stage_left[self.plan.stage[flow]] -= chunks
        self.fresh = True

    def settle_many(self, flow: IntArray, chunks: IntArray) -> None:
        """The same for the transmissions of a round."""
        self.outstanding -= int(chunks.sum())
        np.subtract.at(self._stage_left, self.plan.stage[flow], chunks)
        self.fresh = True

    def ready_chunks(self, flow: int) -> IntArray:
        """Chunks of a flow that are ready and unsent."""
        first, end = self.frontier.first[flow], self.frontier.first[flow + 1]
        return np.flatnonzero(self.frontier.state[first:end] == READY)


def _frontier(plan: Plan, thz_chunks: IntArray, budget_w: FloatArray, thz: Thz) -> Frontier:
    flows = plan.flows
    chunk = np.arange(len(plan.chunk_sizes)) - plan.first_chunk[plan.chunk_flow]
    state = np.where(chunk < thz_chunks[plan.chunk_flow], PENDING, FOREIGN).astype(np.int8)
    exponent = 8.0 * plan.chunk_bytes / (thz.longest_round_s * thz.subband_hz)
    return Frontier(
        racks=plan.racks,
        budget_w=np.array(budget_w, dtype=np.float64),
        stage=plan.stage,
        first=plan.first_chunk,
        size_bytes=plan.chunk_sizes,
        state=state,
        owned=np.array(thz_chunks, dtype=np.int64),
        ready=np.zeros(flows, dtype=np.int64),
        lowest=plan.first_chunk[1:].copy(),
        sent=np.zeros(flows, dtype=np.int64),
        flying=np.zeros(flows, dtype=np.int64),
        drawn_w=np.zeros(len(plan.racks)),
        snr_per_w=np.zeros((flows, thz.subbands)),
        needed_snr=math.expm1(exponent * math.log(2)) if exponent < 1000 else math.inf,
        blocked_ps=np.full(flows, NOT_BLOCKED, dtype=np.int64),
        bundled=plan.bundled,
    )


def web_of(plan: Plan, subbands: int) -> Web:
    """The flows of a plan by position, and which of them meet at each rack."""
    sender = np.searchsorted(plan.racks, plan.src).astype(np.int64)
    receiver = np.searchsorted(plan.racks, plan.dst).astype(np.int64)
    ends = np.concatenate((sender, receiver))
    touch = np.argsort(ends, kind="stable") % max(plan.flows, 1)
    per_rack = np.bincount(ends, minlength=len(plan.racks))
    edges = np.arange(plan.flows * subbands, dtype=np.int64)
    return Web(
        sender=sender,
        receiver=receiver,
        touch_start=np.concatenate(([0], np.cumsum(per_rack))).astype(np.int64),
        touch=touch.astype(np.int64),
        order=edges,
        rank=edges.copy(),
    )
