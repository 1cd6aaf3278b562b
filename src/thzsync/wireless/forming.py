"""One kernel call per round: free resources -> selection -> duration and powers -> taken."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import inner, kernel
from thzsync.wireless.beams import enter_together
from thzsync.wireless.bookkeeping import (
    Sent,
    Started,
    next_run,
    note_blocked,
    startable,
    strong,
    take_resources,
    write_down,
)
from thzsync.wireless.matching import assign, match
from thzsync.wireless.power import allocate, radiate_all
from thzsync.wireless.state import WORTHWHILE, Air, GroupView, LinkTable, Radio, ReadyQueue, Slots


@kernel
def form_round(
    view: GroupView, stage: int, matching: bool, channel_aware: bool, optimal: bool, now_ps: int
) -> Started:
    """The next round of an event from what is ready and free; empty when nothing fits."""
    air, radio, links, queue = view.air, view.radio, view.links, view.queue
    left = startable(queue, stage)
    note_blocked(radio, links, queue, left, now_ps)
    cap_w = power_caps_w(air, radio, queue)
    slots = free_slots(air, links, queue, left, cap_w)
    snr_per_w = queue.snr_per_w
    edges = match(links, slots) if matching else assign(links, slots, snr_per_w, channel_aware)
    return write_down(view, send(air, radio, links, queue, edges, cap_w, optimal), now_ps)


@inner
def power_caps_w(air: Air, radio: Radio, queue: ReadyQueue) -> FloatArray:
    """Power an event may use at every position [W]: its budget, or what other events leave."""
    caps_w = np.empty(len(queue.racks))
    for v in range(len(caps_w)):
        left_w = radio.max_power_w - air.power_w[queue.racks[v]]
        budget_w = queue.budget_w[v]
        if queue.shared:
            budget_w = max(budget_w - queue.drawn_w[v], 0.0)
        caps_w[v] = min(budget_w, left_w)
        if caps_w[v] < WORTHWHILE * queue.budget_w[v]:
            caps_w[v] = 0.0
    return caps_w


@inner
def free_slots(
    air: Air, links: LinkTable, queue: ReadyQueue, left: IntArray, cap_w: FloatArray
) -> Slots:
    """What a round of this group may still take."""
    free = ~air.busy[queue.racks]
    usable = np.zeros(queue.snr_per_w.shape, dtype=np.bool_)
    for f in range(len(left)):
        u, v = links.sender[f], links.receiver[f]
        for c in range(queue.snr_per_w.shape[1] if left[f] > 0 else 0):
            if free[u, c] and free[v, c]:
                usable[f, c] = strong(air, queue, f, c, cap_w[u])
    return Slots(free, air.chains[queue.racks], left, usable)


@inner
def send(
    air: Air, radio: Radio, links: LinkTable, queue: ReadyQueue, edges: IntArray, cap_w: FloatArray,
    optimal: bool,
) -> Sent:  # fmt: skip
    """One transmission per chosen edge, a chunk or all of a bundle: those that fit are begun.

    They have one duration, and as much power as that takes.
    """
    n, subbands = len(edges), queue.snr_per_w.shape[1]
    flow, subband = edges // subbands, edges % subbands
    row, chunks = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    bits, snr = np.empty(n), np.empty(n)
    next_row, most_chunks = queue.lowest.copy(), 1
    for a in range(n):
        f = flow[a]
        row[a], chunks[a], bits[a] = next_run(queue, f, next_row[f])
        next_row[f] = row[a] + chunks[a]
        most_chunks = max(most_chunks, chunks[a])
        snr[a] = queue.snr_per_w[f, subband[a]]
    chosen, power_w, duration_ps = np.arange(n), np.empty(0), 0
    while len(chosen) > 0:  # a pass that admits some leaves at least one of them out
        power_w, duration_ps, chosen = _powers(radio, links, flow, bits, snr, chosen, cap_w,
                                               radio.longest_s * most_chunks, optimal)  # fmt: skip
        f, c = flow[chosen], subband[chosen]
        i, j = queue.racks[links.sender[f]], queue.racks[links.receiver[f]]
        promised_w = np.array([queue.promised_w[f[a], c[a]] for a in range(len(f))])
        admitted = enter_together(air.beams, c, i, j, power_w, promised_w)
        if admitted.all():
            break
        chosen = chosen[admitted]
    for a in range(len(chosen)):
        k = chosen[a]
        take_resources(air, links, queue, flow[k], row[k], chunks[k], subband[k], power_w[a])
    lasting_ps = np.full(len(chosen), duration_ps)
    return flow[chosen], row[chosen], chunks[chosen], subband[chosen], power_w, lasting_ps


@inner
def _powers(
    radio: Radio, links: LinkTable, flow: IntArray, bits: FloatArray, snr: FloatArray,
    chosen: IntArray, cap_w: FloatArray, limit_s: float, optimal: bool,
) -> tuple[FloatArray, int, IntArray]:  # fmt: skip
    """Powers and duration of chosen transmissions, and which of them stay."""
    sender = links.sender[flow[chosen]]
    keep, power_w, duration_ps = allocate(
        sender, bits[chosen], snr[chosen], cap_w, radio.law, limit_s, optimal
    )
    if radio.whole_budget:
        radiate_all(sender, keep, cap_w, power_w)
    return power_w[keep], duration_ps, chosen[keep]
