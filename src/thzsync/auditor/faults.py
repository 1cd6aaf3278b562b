"""Nothing uses what is broken, and nothing waits without a reason.

A fault stops what would begin in its window [start, end); a round that began before runs out.

Most disciplines declare that they conserve work. Then an event with nothing in the air, whose
unsent chunks are all ready, whose racks are idle and whose links are all strong enough must send
now. And the fibre gets a chunk that was decided for THz only after its flow has found no subband
that would carry it. So an outage that the scenario does not name shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray, to_ps
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rounds import snr_per_w
from thzsync.auditor.tables import spread
from thzsync.carriers import THZ
from thzsync.scenario import ComputeFrozen, Fault, PairBlocked, SubbandJammed, TransceiverDown


def thz_faults(record: Record, findings: Findings) -> None:
    """No round begins on a dead transceiver, a jammed subband or a blocked pair."""
    sent = record.transmissions
    for fault in record.scenario.faults:
        hit = breaks(fault, sent.src, sent.dst, sent.subband)
        if hit is not None:
            for k in findings.broken(hit & during(fault, sent.taken_ps)):
                findings.add(sent.name(k), f"its round begins during {fault.kind}")


def breaks(fault: Fault, src: IntArray, dst: IntArray, subband: IntArray) -> BoolArray | None:
    """Links that need what a fault of the overlay breaks; None if it is none."""
    broken: BoolArray | None = None
    if isinstance(fault, TransceiverDown):
        broken = (src == fault.rack) | (dst == fault.rack)
    elif isinstance(fault, SubbandJammed):
        broken = subband == fault.subband
    elif isinstance(fault, PairBlocked):
        a, b = fault.racks
        broken = ((src == a) & (dst == b)) | ((src == b) & (dst == a))
    return broken


def during(fault: Fault, instant_ps: IntArray | int) -> BoolArray:
    """Instants in the window of a fault."""
    instant = np.asarray(instant_ps)
    inside: BoolArray = (to_ps(fault.start_s) <= instant) & (instant < to_ps(fault.end_s))
    return inside


def frozen_racks(record: Record, findings: Findings) -> None:
    """No rack's own data appears while its compute is frozen."""
    events = record.events
    for fault in record.scenario.faults:
        if isinstance(fault, ComputeFrozen):
            member = np.flatnonzero(events.racks.values == fault.rack)
            owner = events.racks.owner[member]
            appears = events.release_ps[owner] + events.delay_ps[member]
            for k in findings.broken(during(fault, appears)):
                findings.add(events.name(owner[k]), f"has data at {appears[k]} ps on a frozen rack")


MOST_INSTANTS: Final = 4096
"""Instants at which one wait is looked at; the channel may change more often."""
MARGIN: Final = 2.0
"""How much stronger than needed a link must be before its silence counts as a violation."""


def silence(record: Record, findings: Findings) -> None:
    """No event stays silent while all it has left to send could be sent."""
    if record.many_jobs:
        return  # what unfinished iterations sent is not recorded, but was in the way
    air = _Air(record)
    for event, first_ps, until_ps, flows in (w for part in record.parts() for w in _waits(part)):
        free = (u for u in air.idle(flows, first_ps, until_ps) if air.all_strong(event, flows, u))
        instant = next(free, None)
        message = (
            f"sends nothing from {instant} to {until_ps} ps although all its THz chunks are "
            f"ready, their racks idle and their links strong"
        )
        findings.require(instant is None, record.events.name(event), message)


def fallback(record: Record, findings: Findings) -> None:
    """Fibre takes over a chunk of THz after its timeout, and only where no subband would do."""
    chunks, flows = record.chunks, record.flows
    air, timeout_ps = _Air(record), to_ps(record.scenario.thz.fallback_timeout_s)
    on_thz = chunks.decided == THZ
    given_up = on_thz & chunks.wired
    conserving = record.declares(flows.discipline, lambda told: told.work_conserving)
    for flow in np.unique(chunks.flow[given_up]).tolist():
        own = slice(*np.searchsorted(chunks.flow, (flow, flow + 1)).tolist())
        event = int(flows.event[flow])
        if event < 0 or not conserving[flow]:
            continue
        first_ps = int(chunks.ready_ps[own][on_thz[own]].min())
        ends = chunks.end_ps[own][given_up[own]]
        waited = int(ends.min()) >= first_ps + timeout_ps
        findings.require(waited, flows.name(flow), "left to fibre before its timeout")
        instants = air.instants(first_ps, int(ends.max()))
        stuck = instants is None or any(air.hopeless(event, flow, u) for u in instants)
        findings.require(stuck, flows.name(flow), "left to fibre, but a subband could carry it")


def _waits(record: Record) -> Iterator[tuple[int, int, int, IntArray]]:
    """Spans in which an event has nothing in the air and all its unsent THz chunks are ready.

    Event, first and last instant [ps], and the flows of the unsent chunks, as the whole record has
    them.
    """
    chunks, flows, sent, events = record.chunks, record.flows, record.transmissions, record.events
    owner, row = spread(*sent.carried(chunks))
    taken_ps = np.full(len(chunks), -1, dtype=np.int64)
    taken_ps[row] = sent.taken_ps[owner]
    known = (chunks.event >= 0) & chunks.thz & (taken_ps >= 0)
    odd = (chunks.event >= 0) & ((chunks.carrier != chunks.decided) | (chunks.thz & ~known))
    idling = ~record.declares(flows.discipline, lambda told: told.work_conserving)
    idling &= flows.event >= 0
    left_out = {*chunks.event[odd].tolist(), *flows.event[idling].tolist()}
    transmissions = dict(_by_event(sent.event, sent.taken_ps))
    for event, rows in _by_event(np.where(known, chunks.event, -1), taken_ps):
        if event in left_out or event not in transmissions:
            continue
        mine, taken = transmissions[event], taken_ps[rows]
        starts, first = np.unique(taken, return_index=True)
        ended = np.maximum.accumulate(np.append(events.release_ps[event], sent.end_ps[mine]))
        in_air_ps = ended[np.searchsorted(sent.taken_ps[mine], starts)]
        last_ready = np.maximum.accumulate(chunks.ready_ps[rows][::-1])[::-1]
        first_ps = np.maximum(in_air_ps, last_ready[first])
        for k in np.flatnonzero(first_ps < starts).tolist():
            unsent = record.first_flow + np.unique(chunks.flow[rows[first[k] :]])
            yield record.first_event + event, int(first_ps[k]), int(starts[k]), unsent


def _by_event(event: IntArray, instant_ps: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Rows of every event (-1 is none) in the order of their instants."""
    order = np.lexsort((instant_ps, event))
    order = order[event[order] >= 0]
    names, first = np.unique(event[order], return_index=True)
    yield from zip(names.tolist(), np.split(order, first[1:]), strict=bool(len(names)))


class _Air:
    """Racks, channel and faults as the scenario has them."""

    def __init__(self, record: Record) -> None:
        self.record = record
        sent = record.transmissions
        self._order = np.argsort(sent.taken_ps, kind="stable")
        self._ended = np.maximum.accumulate(sent.end_ps[self._order])

    def instants(self, first_ps: int, until_ps: int) -> list[int] | None:
        """Where channel or faults change in a span; None if that is too often to look."""
        faults = (to_ps(t) for f in self.record.scenario.faults for t in (f.start_s, f.end_s))
        found = [first_ps, *(t for t in faults if first_ps < t <= until_ps)]
        change_ps = self.record.channel.next_change_ps(first_ps)
        while change_ps <= until_ps:
            found.append(change_ps)
            change_ps = self.record.channel.next_change_ps(change_ps)
            if len(found) > MOST_INSTANTS:
                return None
        return sorted(set(found))

    def idle(self, flows: IntArray, first_ps: int, until_ps: int) -> Iterator[int]:
        """Instants of a span at which nobody uses the racks of these flows, or disturbs them."""
        sent, record = self.record.transmissions, self.record
        racks = np.union1d(record.flows.src[flows], record.flows.dst[flows])
        last = np.searchsorted(sent.taken_ps[self._order], until_ps)
        near = self._order[np.searchsorted(self._ended, first_ps, side="right") : last]
        if record.scenario.thz.interference == "constant":  # otherwise anybody may be in the way
            near = near[np.isin(sent.src[near], racks) | np.isin(sent.dst[near], racks)]
        begin, end = sent.taken_ps[near], sent.end_ps[near]
        freed = [t for t in end.tolist() if first_ps <= t < until_ps]
        for instant in sorted({*freed, *(self.instants(first_ps, until_ps - 1) or [first_ps])}):
            if not ((begin <= instant) & (instant < end)).any():
                yield instant

    def all_strong(self, event: int, flows: IntArray, instant_ps: int) -> bool:
        """Whether every usable subband carries every flow with a fraction of its power."""
        usable = self._usable(flows, instant_ps)
        share = MARGIN * len(flows) * usable.shape[1]
        strong = self._snr(event, flows, instant_ps) >= self._needed(flows)[:, None] * share
        return bool((strong | ~usable).all() and usable.any(axis=1).all())

    def hopeless(self, event: int, flow: int, instant_ps: int) -> bool:
        """Whether no usable subband carries a flow with all its power."""
        flows = np.array([flow], dtype=np.int64)
        enough = self._snr(event, flows, instant_ps) * (1 - TOLERANCE) >= self._needed(flows)
        return not bool((enough & self._usable(flows, instant_ps)).any())

    def _snr(self, event: int, flows: IntArray, instant_ps: int) -> FloatArray:
        """Signal-to-noise ratio at the event's power budget, by flow and subband (eq:thz_rate)."""
        record = self.record
        src, dst = record.flows.src[flows], record.flows.dst[flows]
        inside = record.on_floor(src, dst) & (src != dst)
        member = record.events.member(np.full(len(flows), event, dtype=np.int64), src)
        share = np.where(member >= 0, record.events.power[np.maximum(member, 0)], 0.0)
        gains = self.record.channel.gains(src * inside, dst * inside, instant_ps)
        budget_w = share * inside * record.scenario.thz.max_power_w
        snr: FloatArray = gains * snr_per_w(record) * budget_w[:, None]
        return snr

    def _needed(self, flows: IntArray) -> FloatArray:
        """Ratio that brings a chunk across within the longest round (eq:a2a_required_power)."""
        thz = self.record.scenario.thz
        bits = 8.0 * self.record.flows.chunk_bytes[flows]
        return self.record.rates.needed(bits / (thz.longest_round_s * thz.subband_hz))

    def _usable(self, flows: IntArray, instant_ps: int) -> BoolArray:
        """By flow and subband, whether no fault stands in the way."""
        record, subbands = self.record, np.arange(self.record.scenario.thz.subbands)
        src, dst = record.flows.src[flows, None], record.flows.dst[flows, None]
        usable = np.ones((len(flows), len(subbands)), dtype=np.bool_)
        for fault in record.scenario.faults:
            hit = breaks(fault, src, dst, subbands)
            if hit is not None and during(fault, instant_ps):
                usable &= ~hit
        return usable
