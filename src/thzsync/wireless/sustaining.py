"""Sustained links: chosen by how busy their racks are, kept for a while, each ending by itself.

Whenever a chain is free, the links of the racks that have most left to do are taken, and each
sends as many chunks as its rate allows in the time for which it is kept. Strong links carry more
than weak ones, nobody waits for another link's end, and a guard time occurs only where a chain
turns. A sender's power is divided by as many links as it must keep busy at once to end with the
busiest rack: a rack with less to send uses more power, which saves time of the busy rack at the
other end.
Links of busy racks get more than their share, others less: of all powers that take a second of
rack time at price w and a joule at price e, (w + e p) / rate(p) per bit is least at a p that is
nearly proportional to w / e, since the rate grows but with the logarithm of p.

Chunks that are passed on ask for something else. A slow link of a tree must not be put off, since
all that is behind it waits: beside its rate count the part of a flow that is still to be sent, so
that all shards come to their end together, and how long a chain of flows waits for this one.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.rate import Law
from thzsync.channel.rate import rate_bps as rate_bps_of
from thzsync.jit import inner, inner_bare, kernel
from thzsync.wireless.bookkeeping import (
    Sent,
    Started,
    begin,
    listen,
    note_blocked,
    startable,
    strong,
    used_power_w,
    write_down,
)
from thzsync.wireless.forming import free_slots
from thzsync.wireless.matching import fits, take
from thzsync.wireless.state import (
    READY,
    WORTHWHILE,
    Air,
    GroupView,
    LinkTable,
    Radio,
    ReadyQueue,
    Slots,
)

URGENCY = 6.0
"""Exponent by which a rack's remaining work counts: the busiest racks must never idle."""
RELAYED_URGENCY = 4.0
"""The same where chunks are passed on: who waits for the busiest racks counts beside them."""
LEAST_FAVOUR = 0.3
"""Part of its share that a link has at least, however little its racks have to do."""
ENOUGH = 0.5
"""Part of its share for which a sender begins another link rather than wait for more power."""


@kernel
def sustain(
    view: GroupView, stage: int, hold_s: float, relayed: bool, lead: FloatArray, now_ps: int
) -> Started:
    """New transmissions on free chains: busiest racks first, so many chunks as fit ``hold_s``.

    ``relayed``: chunks are passed on, and ``lead`` tells how much other flows wait for each flow.
    Then half of the subbands send at even power, or more of them at less: what a sender has to send
    comes when it comes.
    """
    air, radio, links, queue = view.air, view.radio, view.links, view.queue
    left = startable(queue, stage)
    note_blocked(radio, links, queue, left, now_ps)
    spare_w = radio.max_power_w - air.power_w[queue.racks]
    cap_w = np.maximum(0.0, np.minimum(queue.budget_w - queue.drawn_w, spare_w))
    share_w = queue.budget_w * min(1.0, 2.0 / queue.snr_per_w.shape[1])
    if not relayed:
        _ease(links, queue, share_w, radio.law)
    _lift(links, queue, left, share_w)
    want_w = share_w[links.sender]
    rate_bps = _rates(queue, want_w, radio.law)
    if not relayed:
        _favour(links, queue, rate_bps, share_w, want_w)
        rate_bps = _rates(queue, want_w, radio.law)
    slots = free_slots(air, links, queue, left, cap_w)
    _leave_weak_out(air, links, queue, slots, cap_w, want_w)
    if relayed:
        value = _keeping_up(queue, rate_bps, lead)
        worth = _worth(links, queue, rate_bps, value, RELAYED_URGENCY)
        edges = _best_first(links, slots, queue, worth, cap_w, want_w, 0.0)
        _spread_power(links, queue, edges, cap_w, share_w)
        want_w = share_w[links.sender]
        rate_bps = _rates(queue, want_w, radio.law)
    else:
        worth = _worth(links, queue, rate_bps, rate_bps, URGENCY)
        edges = _best_first(links, slots, queue, worth, cap_w, want_w, ENOUGH)
    row, chunks, bits = _fill(links, queue, edges, rate_bps, hold_s)
    sent = _start(air, radio, links, queue, edges, row, chunks, bits, cap_w, want_w)
    return write_down(view, sent, now_ps)


@inner
def _start(
    air: Air, radio: Radio, links: LinkTable, queue: ReadyQueue, edges: IntArray, row: IntArray,
    chunks: IntArray, bits: FloatArray, cap_w: FloatArray, want_w: FloatArray,
) -> Sent:  # fmt: skip
    """Begin transmissions at the power they want, or at what is left of their sender's budget."""
    n, subbands = len(edges), queue.snr_per_w.shape[1]
    flow, subband = edges // subbands, edges % subbands
    power_w, lasting_ps = np.empty(n), np.empty(n, dtype=np.int64)
    kept = np.zeros(n, dtype=np.bool_)
    for a in range(n):
        f, c, u = flow[a], subband[a], links.sender[flow[a]]
        watt = min(cap_w[u], want_w[f])
        listen(air, links, queue, f, c)  # others of this event may have begun since
        if watt < WORTHWHILE * want_w[f] or not strong(air, queue, f, c, watt):
            continue
        watt = used_power_w(radio, watt, queue.snr_per_w[f, c])
        if not begin(air, links, queue, f, row[a], chunks[a], c, watt):
            continue
        cap_w[u] -= watt
        rate = rate_bps_of(watt, queue.snr_per_w[f, c], radio.law)
        power_w[a], kept[a] = watt, True
        lasting_ps[a] = math.ceil(bits[a] / rate * 1e12 * (1.0 + 1e-15))
    return (
        flow[kept], row[kept], chunks[kept], subband[kept], power_w[kept], lasting_ps[kept],
    )  # fmt: skip


@inner_bare
def _airtime_s(queue: ReadyQueue, rate_bps: FloatArray, flow: int) -> float:
    """Air time that the rest of a flow takes on one subband [s]."""
    bits = 8.0 * queue.size_bytes[queue.first[flow]] * queue.owned[flow]
    return float(bits / max(rate_bps[flow].mean(), 1.0))


@inner
def _airtimes_s(
    links: LinkTable, queue: ReadyQueue, rate_bps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Air time that every rack has still to give, on one subband [s]: in all, and to send."""
    work_s, sends_s = np.zeros(len(queue.racks)), np.zeros(len(queue.racks))
    for f in range(len(rate_bps)):
        if queue.owned[f] > 0:
            airtime_s = _airtime_s(queue, rate_bps, f)
            work_s[links.sender[f]] += airtime_s
            work_s[links.receiver[f]] += airtime_s
            sends_s[links.sender[f]] += airtime_s
    return work_s, sends_s


@inner
def _urgencies(
    links: LinkTable, queue: ReadyQueue, rate_bps: FloatArray, exponent: float
) -> FloatArray:
    """Of every flow: the remaining work at both its ends beside the busiest rack's."""
    work_s, _ = _airtimes_s(links, queue, rate_bps)
    of_rack = (work_s / max(work_s.max(), 1e-300)) ** exponent
    urgency: FloatArray = of_rack[links.sender] + of_rack[links.receiver]
    return urgency


@inner
def _ease(links: LinkTable, queue: ReadyQueue, share_w: FloatArray, law: Law) -> None:
    """Divide every budget by the links that its sender must keep busy to end with the busiest."""
    work_s, sends_s = _airtimes_s(links, queue, _rates(queue, share_w[links.sender], law))
    subbands = queue.snr_per_w.shape[1]
    end_s = work_s.max() / subbands
    if end_s <= 0.0:
        return
    share_w[:] = queue.budget_w / np.minimum(np.maximum(sends_s / end_s, 1.0), float(subbands))


@inner_bare
def _lift(links: LinkTable, queue: ReadyQueue, left: IntArray, share_w: FloatArray) -> None:
    """A sender with a link that no share of its budget would carry may use all of it."""
    for f in range(len(left)):
        u = links.sender[f]
        if left[f] > 0 and queue.snr_per_w[f].max() * share_w[u] < queue.needed_snr:
            share_w[u] = queue.budget_w[u]


@inner
def _favour(
    links: LinkTable, queue: ReadyQueue, rate_bps: FloatArray, share_w: FloatArray,
    want_w: FloatArray,
) -> None:  # fmt: skip
    """Give links of busy racks more than their sender's share, and as much less to others.

    Over the air time that a sender has left to send, its links want its share on average. Who has
    one link at a time has nobody to save power for.
    """
    pull = _urgencies(links, queue, rate_bps, URGENCY)
    sends_s, pulled_s = np.zeros(len(share_w)), np.zeros(len(share_w))
    for f in range(len(want_w)):
        if queue.owned[f] > 0:
            airtime_s = _airtime_s(queue, rate_bps, f)
            sends_s[links.sender[f]] += airtime_s
            pulled_s[links.sender[f]] += airtime_s * pull[f]
    for f in range(len(want_w)):
        u = links.sender[f]
        if queue.owned[f] > 0 and share_w[u] < queue.budget_w[u]:
            favour = max(pull[f] * sends_s[u] / max(pulled_s[u], 1e-300), LEAST_FAVOUR)
            needed_w = queue.needed_snr / max(queue.snr_per_w[f].max(), 1e-300)
            want_w[f] = max(share_w[u] * favour, needed_w * (1.0 + 1e-12))
            want_w[f] = min(want_w[f], queue.budget_w[u])


@inner_bare
def _leave_weak_out(
    air: Air, links: LinkTable, queue: ReadyQueue, slots: Slots, cap_w: FloatArray,
    want_w: FloatArray,
) -> None:  # fmt: skip
    """No link is used on a subband on which its power would not carry a chunk in time."""
    for f in range(len(want_w)):
        watt = min(cap_w[links.sender[f]], want_w[f])
        for c in range(queue.snr_per_w.shape[1]):
            if slots.usable[f, c] and not strong(air, queue, f, c, watt):
                slots.usable[f, c] = False


@inner
def _spread_power(
    links: LinkTable, queue: ReadyQueue, edges: IntArray, cap_w: FloatArray, share_w: FloatArray
) -> None:
    """A sender of many links gives each of them less, as long as that still carries a chunk."""
    subbands = queue.snr_per_w.shape[1]
    many, needed_w = np.zeros(len(cap_w), dtype=np.int64), np.zeros(len(cap_w))
    for edge in edges:
        f = edge // subbands
        snr = queue.snr_per_w[f, edge % subbands]
        many[links.sender[f]] += 1
        needed_w[links.sender[f]] = max(needed_w[links.sender[f]], queue.needed_snr / snr)
    for u in range(len(cap_w)):
        if many[u]:
            enough_w = needed_w[u] * (1.0 + 1e-12)
            share_w[u] = min(share_w[u], max(cap_w[u] / many[u], enough_w))


@inner
def _rates(queue: ReadyQueue, want_w: FloatArray, law: Law) -> FloatArray:
    """Rate of every (flow, subband) at the power that it wants [bit/s]; 0 where all is sent.

    A flow that reaches no step counts as if it had the lowest one on one subband.
    """
    flows, subbands = queue.snr_per_w.shape
    rate = np.zeros((flows, subbands))
    for f in range(flows):
        for c in range(subbands if queue.owned[f] > 0 else 0):
            rate[f, c] = rate_bps_of(want_w[f], queue.snr_per_w[f, c], law)
        if len(law.step_bps) > 0 and queue.owned[f] > 0 and rate[f].max() == 0.0:
            rate[f] = law.step_bps[0] / subbands
    return rate


@inner
def _keeping_up(queue: ReadyQueue, rate_bps: FloatArray, lead: FloatArray) -> FloatArray:
    """Value of every (flow, subband): flows that lag behind, and those that others wait for."""
    chunks = np.maximum(queue.first[1:] - queue.first[:-1], 1)
    left = (queue.owned / chunks).reshape((-1, 1))
    value: FloatArray = lead.reshape((-1, 1)) * np.sqrt(left * rate_bps)
    return value


@inner
def _worth(
    links: LinkTable, queue: ReadyQueue, rate_bps: FloatArray, value: FloatArray, exponent: float
) -> FloatArray:
    """What every edge (flow, subband) is worth: the remaining work at both ends times its value."""
    urgency = _urgencies(links, queue, rate_bps, exponent)
    return (urgency.reshape((-1, 1)) * value).ravel()


@inner
def _best_first(
    links: LinkTable, slots: Slots, queue: ReadyQueue, worth: FloatArray, cap_w: FloatArray,
    want_w: FloatArray, enough: float,
) -> IntArray:  # fmt: skip
    """Edges by their worth, while they fit.

    A sender with links in the air begins another if so much of what that one wants is left.
    """
    flows, subbands = queue.snr_per_w.shape
    fitting, cost = np.empty(len(worth), dtype=np.int64), np.empty(len(worth))
    considered = 0
    for f in range(flows):
        for c in range(subbands if slots.left[f] > 0 else 0):
            if fits(slots, f, c, links.sender[f], links.receiver[f]):
                fitting[considered] = f * subbands + c
                cost[considered] = -worth[f * subbands + c]
                considered += 1
    edges = np.empty(considered, dtype=np.int64)
    left_w = cap_w.copy()
    silent = queue.drawn_w == 0.0
    count = 0
    for k in np.argsort(cost[:considered], kind="mergesort"):
        edge = fitting[k]
        f, c = edge // subbands, edge % subbands
        u = links.sender[f]
        if left_w[u] < min(WORTHWHILE if silent[u] else enough, enough) * want_w[f]:
            continue
        if fits(slots, f, c, u, links.receiver[f]):
            take(slots, f, c, u, links.receiver[f])
            left_w[u] = max(0.0, left_w[u] - want_w[f])
            silent[u] = False
            edges[count] = edge
            count += 1
    return edges[:count]


@inner
def _fill(
    links: LinkTable, queue: ReadyQueue, edges: IntArray, rate_bps: FloatArray, hold_s: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """First row, chunks and bits of every edge: what its rate carries in the time of the round."""
    n, subbands = len(edges), rate_bps.shape[1]
    row, chunks = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    bits = np.empty(n)
    next_row = queue.lowest.copy()
    sharing = np.zeros(len(queue.ready), dtype=np.int64)
    for edge in edges:
        sharing[edge // subbands] += 1
    ready = queue.ready.copy()
    for a in range(n):
        f, c = edges[a] // subbands, edges[a] % subbands
        first = next_row[f]
        while queue.state[first] != READY:
            first += 1
        per_chunk_s = 8.0 * queue.size_bytes[first] / max(rate_bps[f, c], 1.0)
        wanted = max(1, round(hold_s / per_chunk_s))
        fair = -(-ready[f] // sharing[f])  # leave some for the flow's other links
        count, size_bytes = 0, 0
        while count < min(wanted, fair) and first + count < queue.first[f + 1]:
            if queue.state[first + count] != READY:
                break
            size_bytes += queue.size_bytes[first + count]
            count += 1
        row[a], chunks[a], bits[a] = first, count, 8.0 * size_bytes
        next_row[f] = first + count
        ready[f] -= count
        sharing[f] -= 1
    return row, chunks, bits
