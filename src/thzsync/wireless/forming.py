"""One kernel call per round: free resources -> selection -> duration and powers -> taken."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import inner, kernel
from thzsync.wireless.assignment import assign
from thzsync.wireless.bookkeeping import (
    Sent,
    Started,
    begin,
    next_run,
    note_blocked,
    startable,
    write_down,
)
from thzsync.wireless.matching import match
from thzsync.wireless.power import allocate, radiate_all
from thzsync.wireless.state import WORTHWHILE, Air, Frontier, Radio, Seat, Slots, Web


@kernel
def form_round(
    seat: Seat, stage: int, matching: bool, channel_aware: bool, optimal: bool, now_ps: int
) -> Started:
    """The next round of an event from what is ready and free; empty when nothing fits."""
    air, radio, web, frontier = seat.air, seat.radio, seat.web, seat.frontier
    left = startable(frontier, stage)
    note_blocked(radio, web, frontier, left, now_ps)
    cap_w = power_caps_w(air, radio, frontier)
    slots = free_slots(air, web, frontier, left, cap_w)
    snr_per_w = frontier.snr_per_w
    edges = match(web, slots) if matching else assign(web, slots, snr_per_w, channel_aware)
    return write_down(seat, send(air, radio, web, frontier, edges, cap_w, optimal), now_ps)


@inner
def power_caps_w(air: Air, radio: Radio, frontier: Frontier) -> FloatArray:
    """Power an event may use at every position [W]: its budget, or what other events leave."""
    caps_w = np.empty(len(frontier.racks))
    for v in range(len(caps_w)):
        left_w = radio.max_power_w - air.power_w[frontier.racks[v]]
        budget_w = frontier.budget_w[v]
        if frontier.shared:
            budget_w = max(budget_w - frontier.drawn_w[v], 0.0)
        caps_w[v] = min(budget_w, left_w)
        if caps_w[v] < WORTHWHILE * frontier.budget_w[v]:
            caps_w[v] = 0.0
    return caps_w


@inner
def free_slots(air: Air, web: Web, frontier: Frontier, left: IntArray, cap_w: FloatArray) -> Slots:
    """What a round of this party may still take."""
    flows, subbands = frontier.snr_per_w.shape
    usable = np.zeros((flows, subbands), dtype=np.bool_)
    for f in range(flows):
        for c in range(subbands):
            snr = frontier.snr_per_w[f, c] * cap_w[web.sender[f]]
            usable[f, c] = left[f] > 0 and snr >= frontier.needed_snr
    free = np.empty((len(frontier.racks), subbands), dtype=np.bool_)
    chains = np.empty(len(frontier.racks), dtype=np.int64)
    for v in range(len(chains)):
        chains[v] = air.chains[frontier.racks[v]]
        for c in range(subbands):
            free[v, c] = not air.busy[frontier.racks[v], c]
    return Slots(free, chains, left, usable)


@inner
def send(
    air: Air, radio: Radio, web: Web, frontier: Frontier, edges: IntArray, cap_w: FloatArray,
    optimal: bool,
) -> Sent:  # fmt: skip
    """One transmission per chosen edge, a chunk or all of a bundle: those that fit are begun.

    They have one duration, and as much power as that takes.
    """
    n, subbands = len(edges), frontier.snr_per_w.shape[1]
    flow, subband = edges // subbands, edges % subbands
    row, chunks = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    lasting_ps, power_w = np.empty(n, dtype=np.int64), np.empty(n)
    bits, snr = np.empty(n), np.empty(n)
    next_row, most_chunks = frontier.lowest.copy(), 0
    for a in range(n):
        f = flow[a]
        row[a], chunks[a], bits[a] = next_run(frontier, f, next_row[f])
        next_row[f] = row[a] + chunks[a]
        most_chunks = max(most_chunks, chunks[a])
        snr[a] = frontier.snr_per_w[f, subband[a]]
    kept = 0
    if n > 0:
        sender = web.sender[flow]
        keep, power_w, duration_ps = allocate(
            sender, bits, snr, cap_w, radio.subband_hz, radio.longest_s * most_chunks, optimal
        )
        if radio.whole_budget:
            radiate_all(sender, keep, cap_w, power_w)
        for a in range(n):  # close the gaps of those left out
            if keep[a]:
                begin(air, web, frontier, flow[a], row[a], chunks[a], subband[a], power_w[a])
                flow[kept], row[kept], chunks[kept] = flow[a], row[a], chunks[a]
                subband[kept], power_w[kept] = subband[a], power_w[a]
                lasting_ps[kept] = duration_ps
                kept += 1
    return (
        flow[:kept], row[:kept], chunks[:kept], subband[:kept], power_w[:kept], lasting_ps[:kept],
    )  # fmt: skip
