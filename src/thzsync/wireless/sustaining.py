"""Sustained links: chosen by how busy their racks are, held for a while, each ending by itself.

Whenever a chain is free, the links of the racks that have most left to do are taken, and each
sends as many chunks as its rate allows in the time that it is to be held. Strong links carry more
than weak ones, nobody waits for another link's end, and a guard time is owed just where a chain
turns. A sender's power is divided by as many links as it must keep busy at once to end with the
busiest rack: who has less to send sends louder, which saves the busy rack's time at the other end.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.rate import rate_bps as rate_bps_of
from thzsync.jit import inner, kernel
from thzsync.wireless.bookkeeping import Sent, begin, note_blocked, startable
from thzsync.wireless.forming import free_slots
from thzsync.wireless.matching import fits, take
from thzsync.wireless.state import READY, WORTHWHILE, Air, Frontier, Radio, Slots, Web

URGENCY = 4.0
"""Exponent by which a rack's remaining work counts: the busiest racks must never idle."""
ENOUGH = 0.5
"""Part of its share for which a sender begins another link rather than wait for more power."""


@kernel
def sustain(
    air: Air, radio: Radio, web: Web, frontier: Frontier, stage: int, hold_s: float, even: bool,
    now_ps: int,
) -> Sent:  # fmt: skip
    """New transmissions on free chains: busiest racks first, so many chunks as fit ``hold_s``.

    ``even``: half of the subbands send at even power, or more of them at less. That suits chunks
    that are passed on: what a sender has to send then comes when it comes.
    """
    left = startable(frontier, stage)
    note_blocked(radio, web, frontier, left, now_ps)
    cap_w = _left_w(air, radio, frontier)
    share_w = frontier.budget_w * min(1.0, 2.0 / frontier.snr_per_w.shape[1])
    if not even:
        _ease(web, frontier, share_w, radio.subband_hz)
    _lift(web, frontier, left, share_w)
    slots = free_slots(air, web, frontier, left, np.minimum(cap_w, share_w))
    rate_bps = _rates(web, frontier, share_w, radio.subband_hz)
    enough = 0.0 if even else ENOUGH
    edges = _busiest_first(web, slots, frontier, rate_bps, cap_w, share_w, enough)
    if even:
        _spread_power(web, frontier, edges, cap_w, share_w)
        rate_bps = _rates(web, frontier, share_w, radio.subband_hz)
    row, chunks, bits = _fill(web, frontier, edges, rate_bps, hold_s)
    return _start(air, radio, web, frontier, edges, row, chunks, bits, cap_w, share_w)


@inner
def _left_w(air: Air, radio: Radio, frontier: Frontier) -> FloatArray:
    """Power that every position has left of its budget and of its maximum [W]."""
    left_w = np.empty(len(frontier.racks))
    for v in range(len(left_w)):
        spare_w = radio.max_power_w - air.power_w[frontier.racks[v]]
        left_w[v] = max(0.0, min(frontier.budget_w[v] - frontier.drawn_w[v], spare_w))
    return left_w


@inner
def _start(
    air: Air, radio: Radio, web: Web, frontier: Frontier, edges: IntArray, row: IntArray,
    chunks: IntArray, bits: FloatArray, cap_w: FloatArray, share_w: FloatArray,
) -> Sent:  # fmt: skip
    """Begin transmissions at their sender's share, or at what is left of its budget."""
    n, subbands = len(edges), frontier.snr_per_w.shape[1]
    flow, subband = edges // subbands, edges % subbands
    power_w, lasting_ps = np.empty(n), np.empty(n, dtype=np.int64)
    kept = 0
    for a in range(n):
        f, c, u = flow[a], subband[a], web.sender[flow[a]]
        watt = min(cap_w[u], share_w[u])
        snr = frontier.snr_per_w[f, c]
        if watt < WORTHWHILE * share_w[u] or watt * snr < frontier.needed_snr:
            continue
        cap_w[u] -= watt
        rate = rate_bps_of(watt, snr, radio.subband_hz)
        begin(air, web, frontier, f, row[a], chunks[a], c, watt)
        flow[kept], row[kept], chunks[kept], subband[kept] = f, row[a], chunks[a], c
        power_w[kept] = watt
        lasting_ps[kept] = math.ceil(bits[a] / rate * 1e12 * (1.0 + 1e-15))
        kept += 1
    return (
        flow[:kept], row[:kept], chunks[:kept], subband[:kept], power_w[:kept], lasting_ps[:kept],
    )  # fmt: skip


@inner
def _airtimes_s(
    web: Web, frontier: Frontier, rate_bps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Air time that every rack has still to give, on one subband [s]: in all, and to send."""
    work_s, sends_s = np.zeros(len(frontier.racks)), np.zeros(len(frontier.racks))
    for f in range(len(rate_bps)):
        if frontier.owned[f] > 0:
            size = 8.0 * frontier.size_bytes[frontier.first[f]]
            airtime_s = frontier.owned[f] * size / max(rate_bps[f].mean(), 1.0)
            work_s[web.sender[f]] += airtime_s
            work_s[web.receiver[f]] += airtime_s
            sends_s[web.sender[f]] += airtime_s
    return work_s, sends_s


@inner
def _ease(web: Web, frontier: Frontier, share_w: FloatArray, hz: float) -> None:
    """Divide every budget by the links that its sender must keep busy to end with the busiest."""
    work_s, sends_s = _airtimes_s(web, frontier, _rates(web, frontier, share_w, hz))
    subbands = frontier.snr_per_w.shape[1]
    end_s = work_s.max() / subbands
    if end_s <= 0.0:
        return
    for u in range(len(share_w)):
        at_once = min(max(sends_s[u] / end_s, 1.0), float(subbands))
        share_w[u] = frontier.budget_w[u] / at_once


@inner
def _lift(web: Web, frontier: Frontier, left: IntArray, share_w: FloatArray) -> None:
    """A sender with a link that no share of its budget would carry may use all of it."""
    for f in range(len(left)):
        u = web.sender[f]
        if left[f] > 0 and frontier.snr_per_w[f].max() * share_w[u] < frontier.needed_snr:
            share_w[u] = frontier.budget_w[u]


@inner
def _spread_power(
    web: Web, frontier: Frontier, edges: IntArray, cap_w: FloatArray, share_w: FloatArray
) -> None:
    """A sender of many links gives each of them less, as long as that still carries a chunk."""
    subbands = frontier.snr_per_w.shape[1]
    links, needed_w = np.zeros(len(cap_w), dtype=np.int64), np.zeros(len(cap_w))
    for edge in edges:
        f = edge // subbands
        snr = frontier.snr_per_w[f, edge % subbands]
        links[web.sender[f]] += 1
        needed_w[web.sender[f]] = max(needed_w[web.sender[f]], frontier.needed_snr / snr)
    for u in range(len(cap_w)):
        if links[u]:
            enough_w = needed_w[u] * (1.0 + 1e-12)
            share_w[u] = min(share_w[u], max(cap_w[u] / links[u], enough_w))


@inner
def _rates(web: Web, frontier: Frontier, share_w: FloatArray, hz: float) -> FloatArray:
    """Rate of every (flow, subband) at its sender's share [bit/s]; 0 where all has been sent."""
    flows, subbands = frontier.snr_per_w.shape
    rate = np.zeros((flows, subbands))
    for f in range(flows):
        for c in range(subbands if frontier.owned[f] > 0 else 0):
            rate[f, c] = rate_bps_of(share_w[web.sender[f]], frontier.snr_per_w[f, c], hz)
    return rate


@inner
def _busiest_first(
    web: Web, slots: Slots, frontier: Frontier, rate_bps: FloatArray, cap_w: FloatArray,
    share_w: FloatArray, enough: float,
) -> IntArray:  # fmt: skip
    """Edges by the remaining work at both ends times the rate, while they fit.

    A sender with links in the air begins another if so much of its share is left.
    """
    flows, subbands = rate_bps.shape
    work, _ = _airtimes_s(web, frontier, rate_bps)
    most = max(work.max(), 1e-300)
    worth, fitting = np.empty(flows * subbands), np.empty(flows * subbands, dtype=np.int64)
    considered = 0
    for f in range(flows):
        if slots.left[f] == 0:
            continue
        urgency = (work[web.sender[f]] / most) ** URGENCY + (
            work[web.receiver[f]] / most
        ) ** URGENCY
        for c in range(subbands):
            if fits(slots, f, c, web.sender[f], web.receiver[f]):
                worth[considered] = -urgency * rate_bps[f, c]
                fitting[considered] = f * subbands + c
                considered += 1
    edges = np.empty(considered, dtype=np.int64)
    left_w = cap_w.copy()
    silent = frontier.drawn_w == 0.0
    count = 0
    for k in np.argsort(worth[:considered], kind="mergesort"):
        edge = fitting[k]
        f, c = edge // subbands, edge % subbands
        u = web.sender[f]
        if left_w[u] < min(WORTHWHILE if silent[u] else enough, enough) * share_w[u]:
            continue
        if fits(slots, f, c, u, web.receiver[f]):
            take(slots, f, c, u, web.receiver[f])
            left_w[u] = max(0.0, left_w[u] - share_w[u])
            silent[u] = False
            edges[count] = edge
            count += 1
    return edges[:count]


@inner
def _fill(
    web: Web, frontier: Frontier, edges: IntArray, rate_bps: FloatArray, hold_s: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """First row, chunks and bits of every edge: what its rate carries in the time of the round."""
    n, subbands = len(edges), rate_bps.shape[1]
    row, chunks = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    bits = np.empty(n)
    next_row = frontier.lowest.copy()
    sharing = np.zeros(len(frontier.ready), dtype=np.int64)
    for edge in edges:
        sharing[edge // subbands] += 1
    ready = frontier.ready.copy()
    for a in range(n):
        f, c = edges[a] // subbands, edges[a] % subbands
        first = next_row[f]
        while frontier.state[first] != READY:
            first += 1
        per_chunk_s = 8.0 * frontier.size_bytes[first] / max(rate_bps[f, c], 1.0)
        wanted = max(1, round(hold_s / per_chunk_s))
        fair = -(-ready[f] // sharing[f])  # leave some for the flow's other links
        count, size_bytes = 0, 0
        while count < min(wanted, fair) and first + count < frontier.first[f + 1]:
            if frontier.state[first + count] != READY:
                break
            size_bytes += frontier.size_bytes[first + count]
            count += 1
        row[a], chunks[a], bits[a] = first, count, 8.0 * size_bytes
        next_row[f] = first + count
        ready[f] -= count
        sharing[f] -= 1
    return row, chunks, bits
