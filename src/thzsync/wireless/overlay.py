"""The THz executor: all active events share rack x subband occupancy, RF chains and power.

It is driven from outside and keeps no clock: chunks become ready, ``dispatch`` forms whatever can
start now, ``finish`` is called when a round ends. Call ``dispatch`` after anything changed, and
at ``next_change_ps`` while something waits for a better channel.
"""

from __future__ import annotations

from bisect import insort

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray, to_ps
from thzsync.channel import ChannelModel
from thzsync.collectives import Plan
from thzsync.scenario import Thz
from thzsync.synthesis import Method, Rounds
from thzsync.wireless.bookkeeping import Sent, release
from thzsync.wireless.event import ActiveEvent
from thzsync.wireless.forming import form_round
from thzsync.wireless.outages import Outages
from thzsync.wireless.round import Round, Stuck
from thzsync.wireless.state import NOT_BLOCKED, Air, Radio
from thzsync.wireless.streaming import stream

NEVER_PS = int(np.iinfo(np.int64).max)


class Overlay:
    """The transceivers of all racks and the events that use them, older events first.

    ``trains=False`` asks P2P flows again after every chunk; it changes no event's result.
    """

    def __init__(self, thz: Thz, channel: ChannelModel, racks: int, *, trains: bool = True) -> None:
        self._thz = thz
        self._trains = trains
        self._channel = channel
        self._overhead_ps = to_ps(thz.round_overhead_s)
        self._radio = Radio(thz.subband_hz, thz.max_power_w, thz.longest_round_s)
        self._air = Air(
            busy=np.zeros((racks, thz.subbands), dtype=np.bool_),
            chains=np.full(racks, thz.chains, dtype=np.int64),
            power_w=np.zeros(racks),
            sending=np.zeros(racks, dtype=np.int64),
        )
        self._outages = Outages(racks, thz.subbands)
        self._events: dict[int, ActiveEvent] = {}
        self._live: list[int] = []
        self._freed = 0  # racks that got something back since the last dispatch, as bits

    @property
    def power_w(self) -> FloatArray:
        """Power that every rack radiates now [W]."""
        return self._air.power_w.copy()

    @property
    def busy(self) -> BoolArray:
        """Which (rack, subband) is in use now."""
        return self._air.busy.copy()

    def admit(
        self,
        number: int,
        plan: Plan,
        method: Method,
        thz_chunks: IntArray,
        budget_w: FloatArray,
        now_ps: int,
    ) -> None:
        """Take on an event: the first ``thz_chunks[f]`` chunks of every flow f are THz-owned.

        ``number`` orders events by age; ``budget_w`` [W] follows ``plan.racks``.
        """
        del now_ps
        if number in self._events:
            raise ValueError(f"event {number} is on the overlay already")
        event = ActiveEvent(number, plan, method, thz_chunks, budget_w, self._thz)
        self._events[number] = event
        if event.outstanding:
            insort(self._live, number)

    def ready(self, number: int, flow: int, chunk: int, now_ps: int) -> None:
        """The precedence of a THz-owned chunk is satisfied."""
        del now_ps
        self._events[number].mark_ready(flow, chunk)

    def ready_many(self, number: int, flow: IntArray, chunk: IntArray, now_ps: int) -> None:
        """The same for many chunks of one event."""
        del now_ps
        self._events[number].mark_ready_many(flow, chunk)

    def dispatch(self, now_ps: int) -> list[Round]:
        """Form every round that can start now [ps], older events first."""
        rounds: list[Round] = []
        freed, self._freed = self._freed, 0
        older = 0  # racks of older events, as bits
        for number in self._live:
            event = self._events[number]
            disputed, older = bool(older & event.rack_mask), older | event.rack_mask
            if event.in_flight and not event.streaming:
                continue
            stale = now_ps >= event.gains_until_ps
            if event.fresh or stale or freed & event.rack_mask:
                if stale:
                    event.refresh(self._channel, self._usable(event), now_ps)
                event.fresh = False
                rounds += self._start(event, now_ps, disputed)
        return rounds

    def finish(self, round: Round, now_ps: int) -> None:
        """A round has ended: its chunks are delivered and what it held is free again."""
        del now_ps
        event = self._events[round.number]
        release(
            self._air,
            round.src,
            round.dst,
            round.subband,
            round.power_w,
            round.flow,
            event.web.sender,
            event.frontier.flying,
            event.frontier.drawn_w,
        )
        event.in_flight -= 1
        if event.streaming:
            flow = int(round.flow[0])
            event.settle(flow, int(round.chunks[0]))
            self._freed |= (1 << int(round.src[0])) | (1 << int(round.dst[0]))
        else:
            event.settle_many(round.flow, round.chunks)
            self._freed |= event.rack_mask
        self._drop_if_done(event)

    def withdraw(self, number: int, flow: int, chunk: int) -> None:
        """The fibre takes a chunk that has not been sent."""
        event = self._events[number]
        event.withdraw(flow, chunk)
        self._drop_if_done(event)

    def adopt(self, number: int, flow: int, chunk: int) -> None:
        """Take a chunk over from the fibre; tell ``ready`` when it may be sent."""
        event = self._events[number]
        if not event.outstanding:
            insort(self._live, number)
        event.adopt(flow, chunk)

    def retire(self, number: int) -> None:
        """Forget an event that has nothing left on the overlay."""
        if number in self._live:
            raise ValueError(f"event {number} still has chunks on THz")
        self._events.pop(number, None)

    def outstanding(self, number: int) -> int:
        """THz-owned chunks of an event that are not delivered yet."""
        return self._events[number].outstanding

    def waiting(self) -> list[Stuck]:
        """Ready chunks that no subband can carry at the event's budget, and since when.

        Chunks that merely wait for their turn are not listed. Known as of the last ``dispatch``.
        """
        stuck = []
        for number in self._live:
            event = self._events[number]
            since_ps = event.frontier.blocked_ps
            if since_ps.max() == NOT_BLOCKED:
                continue
            for flow in np.flatnonzero(since_ps != NOT_BLOCKED).tolist():
                chunks = event.ready_chunks(flow)
                if len(chunks):
                    stuck.append(Stuck(number, flow, chunks, int(since_ps[flow])))
        return stuck

    def next_change_ps(self, now_ps: int) -> int:
        """When a better channel may let something waiting start [ps]; ``NEVER_PS`` if nothing."""
        idle = any(
            (event.streaming or not event.in_flight) and bool(event.frontier.ready.any())
            for event in map(self._events.__getitem__, self._live)
        )
        return self._channel.next_change_ps(now_ps) if idle else NEVER_PS

    def disable(
        self,
        *,
        rack: int | None = None,
        subband: int | None = None,
        pair: tuple[int, int] | None = None,
    ) -> None:
        """Take a transceiver, a subband or a rack pair out of use from the next round on."""
        self._outages.change(1, rack, subband, pair)
        self._forget_gains()

    def enable(
        self,
        *,
        rack: int | None = None,
        subband: int | None = None,
        pair: tuple[int, int] | None = None,
    ) -> None:
        """Undo one earlier ``disable``."""
        self._outages.change(-1, rack, subband, pair)
        self._forget_gains()

    def _start(self, event: ActiveEvent, now_ps: int, disputed: bool) -> list[Round]:
        frontier, method = event.frontier, event.method
        if event.streaming:
            until_ps = event.gains_until_ps if self._trains and not disputed else now_ps
            sent = stream(
                self._air, self._radio, event.web, frontier, event.stage, now_ps, until_ps
            )
            return self._streamed(event, sent, now_ps) if len(sent[0]) else []
        sent = form_round(
            self._air,
            self._radio,
            event.web,
            frontier,
            event.stage,
            method.rounds is Rounds.MATCHING,
            method.channel_aware,
            method.optimal_power,
            now_ps,
        )
        if not len(sent[0]):
            return []
        end_ps = now_ps + self._overhead_ps + int(sent[5][0])
        return [self._round(event, sent, now_ps, end_ps, self._overhead_ps)]

    def _streamed(self, event: ActiveEvent, sent: Sent, now_ps: int) -> list[Round]:
        """One round per transmission; a stream stays on its pair, so nothing is steered anew."""
        ends = (sent[5] + now_ps).tolist()
        if len(ends) == 1:
            return [self._round(event, sent, now_ps, ends[0], 0)]
        rounds = []
        for a, end_ps in enumerate(ends):
            one = tuple(column[a : a + 1] for column in sent)
            rounds.append(self._round(event, one, now_ps, end_ps, 0))  # type: ignore[arg-type]
        return rounds

    def _round(
        self, event: ActiveEvent, sent: Sent, now_ps: int, end_ps: int, overhead_ps: int
    ) -> Round:
        flow, row, chunks, subband, power_w, _ = sent
        plan = event.plan
        index = event.rounds
        event.rounds += 1
        event.in_flight += 1
        first_chunk = row - plan.first_chunk[flow]
        before = event.bytes_before
        size_bytes = before[row + chunks] - before[row]
        return Round(
            event.number, index, now_ps, end_ps, overhead_ps, flow, first_chunk, chunks,
            plan.src[flow], plan.dst[flow], subband, power_w, event.gains[flow, subband],
            size_bytes,
        )  # fmt: skip

    def _usable(self, event: ActiveEvent) -> BoolArray | None:
        return self._outages.usable(event.plan.src, event.plan.dst)

    def _forget_gains(self) -> None:
        for number in self._live:
            self._events[number].gains_until_ps = -1

    def _drop_if_done(self, event: ActiveEvent) -> None:
        if not event.outstanding:
            self._live.remove(event.number)
