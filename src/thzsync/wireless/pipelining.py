"""Pinned links: every active link keeps its subbands from round to round, so no beam is steered.

Subbands are given out once for a set of links whose flows still have something to send. Every
order of up to four subbands is tried, rotations of more; links take, in turn, the first one that
is free at both of their racks, one each and then more while there are any. The order whose slowest
link is fastest is kept.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel.rate import Law, efficiency_at
from thzsync.jit import kernel
from thzsync.wireless.bookkeeping import Started, note_blocked, startable, write_down
from thzsync.wireless.forming import free_slots, power_caps_w, send
from thzsync.wireless.matching import fits, take
from thzsync.wireless.state import GroupView


@kernel
def pin(
    sender: IntArray, receiver: IntArray, snr_per_w: FloatArray, active: BoolArray,
    cap_w: FloatArray, needed_snr: float, orders: IntArray, chains: int, law: Law,
) -> BoolArray:  # fmt: skip
    """Which subbands every active link keeps, by (link, subband)."""
    best = np.zeros(snr_per_w.shape, dtype=np.bool_)
    best_score = -1.0
    for k in range(len(orders)):
        pins = _deal(sender, receiver, snr_per_w, active, cap_w, needed_snr, orders[k], chains)
        score = _slowest(sender, snr_per_w, active, cap_w, pins, law)
        if score > best_score:
            best, best_score = pins, score
    return best


@kernel
def _deal(
    sender: IntArray, receiver: IntArray, snr_per_w: FloatArray, active: BoolArray,
    cap_w: FloatArray, needed_snr: float, order: IntArray, chains: int,
) -> BoolArray:  # fmt: skip
    """Subbands in this order, one for every link in turn while any link can have another."""
    links, subbands = snr_per_w.shape
    pins = np.zeros((links, subbands), dtype=np.bool_)
    free = np.ones((len(cap_w), subbands), dtype=np.bool_)
    left = np.full(len(cap_w), chains)
    given = True
    while given:
        given = False
        for f in range(links):
            u, v = sender[f], receiver[f]
            if not active[f] or left[u] == 0 or left[v] == 0:
                continue
            for c in order:
                usable = snr_per_w[f, c] * cap_w[u] >= needed_snr
                if free[u, c] and free[v, c] and usable:
                    pins[f, c] = given = True
                    free[u, c] = free[v, c] = False
                    left[u] -= 1
                    left[v] -= 1
                    break
    return pins


@kernel
def _slowest(
    sender: IntArray, snr_per_w: FloatArray, active: BoolArray, cap_w: FloatArray, pins: BoolArray,
    law: Law,
) -> float:  # fmt: skip
    """Spectral efficiency of the slowest link with every budget split evenly over its subbands."""
    shares = np.zeros(len(cap_w), dtype=np.int64)
    for f in range(len(pins)):
        shares[sender[f]] += pins[f].sum()
    slowest = math.inf
    for f in range(len(pins)):
        if not active[f]:
            continue
        total, u = 0.0, sender[f]
        for c in range(pins.shape[1]):
            if pins[f, c]:
                total += efficiency_at(snr_per_w[f, c] * cap_w[u] / shares[u], law)
        slowest = min(slowest, total)
    return slowest


@kernel
def look_at_links(view: GroupView, of_flow: IntArray, active: BoolArray) -> bool:
    """Note which links are active; whether they are other than before.

    A flow that waits for a straggler has not begun, and its link needs no subband yet.
    """
    queue, now = view.queue, np.zeros(len(active), dtype=np.bool_)
    for f in range(len(of_flow)):
        if queue.owned[f] > 0 and (queue.ready[f] > 0 or queue.sent[f] > 0):
            now[of_flow[f]] = True
    changed = False
    for link in range(len(now)):
        changed = changed or now[link] != active[link]
        active[link] = now[link]
    return changed


@kernel
def form_pinned(view: GroupView, pins: BoolArray, stage: int, now_ps: int) -> Started:
    """The next round: a chunk on every subband of a link of which a flow has one ready."""
    air, radio, links, queue = view.air, view.radio, view.links, view.queue
    left = startable(queue, stage)
    note_blocked(radio, links, queue, left, now_ps)
    cap_w = power_caps_w(air, radio, queue)
    slots = free_slots(air, links, queue, left, cap_w)
    flows, subbands = pins.shape
    edges = np.empty(flows * subbands, dtype=np.int64)
    count = 0
    for f in range(flows):
        u, v = links.sender[f], links.receiver[f]
        for c in range(subbands):
            if pins[f, c] and fits(slots, f, c, u, v):
                take(slots, f, c, u, v)
                edges[count] = f * subbands + c
                count += 1
    return write_down(view, send(air, radio, links, queue, edges[:count], cap_w, True), now_ps)
