"""P2P: every flow sends chunk after chunk on its best free subband, without rounds.

Chunks that would follow each other on the same subband with the same power anyway are sent as one
train: then nothing is lost by not asking again after every chunk. A train needs that no older event
and no other flow of its own meets the two racks (nobody could step in between), that its subband is
the strongest of all and its power the rack's whole budget (nothing better can become free), and it
starts no chunk after the channel has changed. With lookahead it may run where older events and
better subbands or power that others hold are in sight, too, until the first of them ends. A flow on
several subbands at once has a train on each, if it has begun on all that are of use to it. Where
beams disturb each other, a train is one transmission that keeps its promise: asked again after
every chunk, a flow might be promised another level.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import NEVER_PS, FloatArray, IntArray
from thzsync.channel.rate import rate_bps
from thzsync.jit import inner, inner_bare, kernel
from thzsync.wireless.beams import admits
from thzsync.wireless.bookkeeping import (
    Started,
    begin,
    least_served_first,
    listen,
    next_run,
    note_blocked,
    startable,
    strong,
    used_power_w,
    write_down,
)
from thzsync.wireless.state import (
    READY,
    SENT,
    WORTHWHILE,
    Air,
    GroupView,
    LinkTable,
    Radio,
    ReadyQueue,
)

_PS = 1e12


@kernel
def stream(view: GroupView, stage: int, flights: int, far: bool, now_ps: int) -> Started:
    """Start the next transmissions of every flow that finds a subband and power.

    A flow may have ``flights`` transmissions in the air, each at an equal share of what it may use.
    Until its ``until_ps`` neither the channel nor what older events begin can change a flow's
    choice. ``far`` is for flows with one flight at a time: their trains may run beside what others
    hold, until that is given back.
    """
    air, radio, links, queue = view.air, view.radio, view.links, view.queue
    until_ps = view.until_ps
    left = startable(queue, stage)
    note_blocked(radio, links, queue, left, now_ps)
    flights = min(flights, queue.snr_per_w.shape[1])
    whole_w = _shares_w(links, queue, left)
    share_w = whole_w / flights
    n, most = 0, len(left) * flights
    flow, row = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    chunks, subband = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    power_w, lasting_ps = np.empty(most), np.empty(most, dtype=np.int64)
    for turn in range(flights):
        for f in least_served_first(queue.sent):
            if left[f] == 0 or queue.ready[f] == 0 or queue.flying[f] > turn:
                continue
            cap_w = _cap_w(air, radio, links, queue, share_w, f)
            best = _best_subband(air, radio, links, queue, cap_w, f)
            if best < 0 and flights > 1 and queue.flying[f] == 0:  # one at a time, then
                cap_w = _cap_w(air, radio, links, queue, whole_w, f)
                best = _best_subband(air, radio, links, queue, cap_w, f)
            if best < 0:
                continue
            row[n], chunks[n], bits = next_run(queue, f, queue.lowest[f])
            rate = rate_bps(cap_w, queue.snr_per_w[f, best], radio.law)
            watt = used_power_w(radio, cap_w, queue.snr_per_w[f, best])
            flow[n], subband[n], power_w[n] = f, best, watt
            lasting_ps[n] = _lasting_ps(bits, rate)
            same_ps = min(until_ps[f], _better_ps(air, far, links, queue, f, best, cap_w))
            if same_ps > now_ps and not queue.bundled[f] and _alone(links, queue, f):
                chunks[n], lasting_ps[n] = _train(queue, f, row[n], rate, same_ps - now_ps)
            n += begin(air, links, queue, f, row[n], chunks[n], best, watt)
    if flights > 1:
        mine = np.empty(flights, dtype=np.int64)
        for f in range(len(left)):
            count = 0
            for a in range(n):
                if flow[a] == f:
                    mine[count] = a
                    count += 1
            if (
                count > 0
                and until_ps[f] > now_ps
                and _undisturbed(radio, links, queue, share_w, f, subband, power_w, mine[:count])
            ):
                _couple(radio, queue, f, mine[:count], row, chunks, subband, power_w,
                        lasting_ps, until_ps[f] - now_ps)  # fmt: skip
    sent = (flow[:n], row[:n], chunks[:n], subband[:n], power_w[:n], lasting_ps[:n])
    return write_down(view, sent, now_ps)


@inner_bare
def _lasting_ps(bits: float, rate: float) -> int:
    return math.ceil(bits / rate * _PS * (1.0 + 1e-15))


@inner_bare
def _alone(links: LinkTable, queue: ReadyQueue, flow: int) -> bool:
    """Whether no other flow of the event waits for this one, or has to do at its two racks."""
    if queue.shared or queue.awaited[flow]:
        return False
    for u in (links.sender[flow], links.receiver[flow]):
        for k in range(links.touch_start[u], links.touch_start[u + 1]):
            other = links.touch[k]
            if other != flow and (queue.owned[other] > 0 or queue.flying[other] > 0):
                return False
    return True


@inner_bare
def _better_ps(
    air: Air, far: bool, links: LinkTable, queue: ReadyQueue, flow: int, subband: int, cap_w: float
) -> int:
    """When a flow could have a better subband or more power than this [ps], at the soonest.

    Without lookahead nobody knows when others end. Of equal subbands the first is taken.
    """
    u, snr_per_w = links.sender[flow], queue.snr_per_w[flow]
    src, dst = queue.racks[u], queue.racks[links.receiver[flow]]
    better_ps = NEVER_PS
    for c in range(len(snr_per_w)):
        more = snr_per_w[c] - snr_per_w[subband]
        if more > 0.0 or (more == 0.0 and c < subband):
            if not far:
                return 0
            free_ps = 0
            for rack in (src, dst):
                if air.busy[rack, c]:
                    free_ps = max(free_ps, air.free_ps[rack, c])
            better_ps = min(better_ps, free_ps)
    if cap_w != queue.budget_w[u]:
        if not far:
            return 0
        for c in range(len(snr_per_w)):
            if air.busy[src, c]:
                better_ps = min(better_ps, air.free_ps[src, c])
    return better_ps


@inner_bare
def _train(queue: ReadyQueue, flow: int, row: int, rate: float, until_ps: int) -> tuple[int, int]:
    """Ready chunks from ``row`` on that start before ``until_ps``, and how long they take [ps]."""
    count, lasting_ps = 0, 0
    while row + count < queue.first[flow + 1] and queue.state[row + count] == READY:
        if count > 0 and lasting_ps >= until_ps:
            break
        lasting_ps += _lasting_ps(8.0 * queue.size_bytes[row + count], rate)
        count += 1
    return count, lasting_ps


@inner_bare
def _undisturbed(
    radio: Radio, links: LinkTable, queue: ReadyQueue, share_w: FloatArray, flow: int,
    subband: IntArray, power_w: FloatArray, mine: IntArray,
) -> bool:  # fmt: skip
    """Whether a flow has its share on every subband that is of use to it, and meets nobody there.

    With less power, or on fewer subbands at more, it waits for what younger events hold.
    """
    own_w = share_w[links.sender[flow]]
    if len(mine) != queue.flying[flow] or queue.bundled[flow]:
        return False
    for a in mine:
        share = used_power_w(radio, own_w, queue.snr_per_w[flow, subband[a]])
        if abs(power_w[a] - share) > 1e-12 * share:
            return False
    for c in range(queue.snr_per_w.shape[1]):
        idle = queue.snr_per_w[flow, c] * own_w >= queue.needed_snr
        for a in mine:
            idle = idle and subband[a] != c
        if idle:
            return False
    return _alone(links, queue, flow)


@inner_bare
def _couple(
    radio: Radio, queue: ReadyQueue, flow: int, mine: IntArray, row: IntArray, chunks: IntArray,
    subband: IntArray, power_w: FloatArray, lasting_ps: IntArray, until_ps: int,
) -> None:  # fmt: skip
    """Lengthen a flow's new transmissions to trains: each subband sends as many chunks as it would.

    Every chunk would go to the subband that is free first. A train takes consecutive rows, so
    that other chunks share a subband than without trains; only the last may be a shorter one, and
    stays with the subband that would have taken it.
    """
    first, count = row[mine[0]], len(mine)
    end = first
    while end < queue.first[flow + 1] and queue.state[end] == SENT:
        end += 1
    if end - first != count:
        return  # it has begun chunks here and there
    while end < queue.first[flow + 1] and queue.state[end] == READY:
        end += 1
    for chunk in range(first, end - 1):
        if queue.size_bytes[chunk] != queue.size_bytes[first]:
            return
    taken, last = first + count, mine[count - 1]
    while taken < end:
        free = mine[0]
        for a in mine:
            if lasting_ps[a] < lasting_ps[free]:
                free = a
        if lasting_ps[free] >= until_ps:
            break
        snr = queue.snr_per_w[flow, subband[free]]
        rate = rate_bps(power_w[free], snr, radio.law)
        lasting_ps[free] += _lasting_ps(8.0 * queue.size_bytes[taken], rate)
        chunks[free] += 1
        taken, last = taken + 1, free
    for chunk in range(first, taken):
        queue.state[chunk] = SENT
    queue.ready[flow] -= taken - first - count
    queue.owned[flow] -= taken - first - count
    queue.lowest[flow] = max(queue.lowest[flow], taken)
    row[last], next_row = taken - chunks[last], first
    for a in mine:
        if a != last:
            row[a], next_row = next_row, next_row + chunks[a]


@inner
def _shares_w(links: LinkTable, queue: ReadyQueue, left: IntArray) -> FloatArray:
    """A rack's budget [W] over its flows that have something to send or are sending."""
    active = np.zeros(len(queue.racks), dtype=np.int64)
    for f in range(len(left)):
        if left[f] > 0 or queue.flying[f] > 0:
            active[links.sender[f]] += 1
    share_w: FloatArray = queue.budget_w / np.maximum(active, 1)
    return share_w


@inner_bare
def _cap_w(
    air: Air, radio: Radio, links: LinkTable, queue: ReadyQueue, share_w: FloatArray, flow: int
) -> float:
    u = links.sender[flow]
    left_w = min(
        queue.budget_w[u] - queue.drawn_w[u],
        radio.max_power_w - air.power_w[queue.racks[u]],
    )
    return min(left_w, share_w[u]) if left_w >= WORTHWHILE * share_w[u] else 0.0


@inner_bare
def _best_subband(
    air: Air, radio: Radio, links: LinkTable, queue: ReadyQueue, cap_w: float, flow: int
) -> int:
    src, dst = queue.racks[links.sender[flow]], queue.racks[links.receiver[flow]]
    best, strongest = -1, 0.0
    if air.chains[src] == 0 or air.chains[dst] == 0:
        return best
    for c in range(queue.snr_per_w.shape[1]):
        if air.busy[src, c] or air.busy[dst, c]:
            continue
        listen(air, links, queue, flow, c)
        snr = queue.snr_per_w[flow, c]
        if snr > strongest and strong(air, queue, flow, c, cap_w):
            watt = used_power_w(radio, cap_w, snr)
            if admits(air.beams, c, src, dst, watt, queue.promised_w[flow, c]):
                best, strongest = c, snr
    return best
