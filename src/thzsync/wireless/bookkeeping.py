"""How kernels take and release radio resources, and which chunks a transmission carries."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.rate import saving_power_w
from thzsync.jit import bare, inner, inner_bare
from thzsync.wireless.beams import enter, leave, level_w, number_of
from thzsync.wireless.round import (
    BEAM,
    BYTES,
    CHUNKS,
    DST,
    FIRST_CHUNK,
    FLOW,
    GUARD,
    LOCAL_FLOW,
    SRC,
    SUBBAND,
)
from thzsync.wireless.state import (
    IDLE,
    NOT_BLOCKED,
    READY,
    SENT,
    Air,
    GroupView,
    LinkTable,
    Radio,
    ReadyQueue,
)

Sent = tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, IntArray]
"""Per transmission: flow, first row, chunks, subband, power [W], duration [ps]."""
Started = tuple[int, int, bool]
"""Transmissions begun, chunks that they carry, and whether some flow is blocked."""


@inner
def startable(queue: ReadyQueue, stage: int) -> IntArray:
    """Transmissions that every flow could begin if it had the air to itself."""
    left = np.zeros(len(queue.ready), dtype=np.int64)
    for f in range(len(left)):
        if queue.ready[f] == 0 or queue.stage[f] > stage:
            continue
        if not queue.bundled[f]:
            left[f] = queue.ready[f]
        elif queue.ready[f] == queue.owned[f]:
            left[f] = 1
    return left


@inner_bare
def note_blocked(
    radio: Radio, links: LinkTable, queue: ReadyQueue, left: IntArray, now_ps: int
) -> None:
    """A flow is blocked when no subband would do even if the event had the air to itself."""
    for f in range(len(left)):
        cap_w = min(queue.budget_w[links.sender[f]], radio.max_power_w)
        blocked = left[f] > 0
        if blocked:
            for snr in queue.clear_snr_per_w[f]:
                if snr * cap_w >= queue.needed_snr:
                    blocked = False
        if not blocked:
            queue.blocked_ps[f] = NOT_BLOCKED
        elif queue.blocked_ps[f] == NOT_BLOCKED:
            queue.blocked_ps[f] = now_ps


@inner_bare
def next_run(queue: ReadyQueue, flow: int, row: int) -> tuple[int, int, float]:
    """A flow's next transmission from ``row`` on: its first row, its chunks and its bits.

    It carries one chunk or, where flows are bundled, a run of ready ones.
    """
    while queue.state[row] != READY:
        row += 1
    count, size_bytes = 1, queue.size_bytes[row]
    end = queue.first[flow + 1] if queue.bundled[flow] else row
    while row + count < end and queue.state[row + count] == READY:
        size_bytes += queue.size_bytes[row + count]
        count += 1
    return row, count, 8.0 * size_bytes


@inner_bare
def used_power_w(radio: Radio, power_w: float, snr_per_w: float) -> float:
    """What a transmission radiates of the power that it may [W]: no more than its step needs."""
    return power_w if radio.whole_budget else saving_power_w(power_w, snr_per_w, radio.law)


@inner_bare
def listen(air: Air, links: LinkTable, queue: ReadyQueue, flow: int, subband: int) -> None:
    """Note what a transmission would be promised if it began now; of busy racks, nothing."""
    beams, clear = air.beams, queue.clear_snr_per_w[flow, subband]
    i, j = queue.racks[links.sender[flow]], queue.racks[links.receiver[flow]]
    if beams.coupled and clear > 0.0 and not (air.busy[i, subband] or air.busy[j, subband]):
        promised_w = level_w(beams, subband, i, j)
        queue.promised_w[flow, subband] = promised_w
        queue.snr_per_w[flow, subband] = clear * (beams.noise_w * beams.headroom / promised_w)


@bare
def listen_all(view: GroupView) -> None:
    """The same for all flows that have something to send."""
    queue = view.queue
    for f in range(len(queue.ready)):
        for c in range(queue.snr_per_w.shape[1] if queue.ready[f] > 0 else 0):
            listen(view.air, view.links, queue, f, c)


@inner_bare
def strong(air: Air, queue: ReadyQueue, flow: int, subband: int, power_w: float) -> bool:
    """Whether a link carries a chunk in time at this power; notes if others' beams forbid it."""
    if queue.snr_per_w[flow, subband] * power_w >= queue.needed_snr:
        return True
    if queue.clear_snr_per_w[flow, subband] * power_w >= queue.needed_snr:
        air.beams.refused[subband] = True
    return False


@inner_bare
def begin(
    air: Air, links: LinkTable, queue: ReadyQueue, flow: int, row: int, chunks: int, subband: int,
    power_w: float,
) -> bool:  # fmt: skip
    """Begin a transmission, unless it would disturb others or they it; whether it begins.

    It is promised the level of noise that :func:`listen` noted last.
    """
    i, j = queue.racks[links.sender[flow]], queue.racks[links.receiver[flow]]
    promised_w = queue.promised_w[flow, subband]
    if not enter(air.beams, subband, i, j, power_w, promised_w):
        return False
    take_resources(air, links, queue, flow, row, chunks, subband, power_w)
    return True


@inner_bare
def take_resources(
    air: Air, links: LinkTable, queue: ReadyQueue, flow: int, row: int, chunks: int, subband: int,
    power_w: float,
) -> None:  # fmt: skip
    """Mark chunks as sent, and take subband, RF chains and power for their transmission."""
    for chunk in range(row, row + chunks):
        queue.state[chunk] = SENT
    queue.ready[flow] -= chunks
    queue.owned[flow] -= chunks
    queue.sent[flow] += 1
    queue.flying[flow] += 1
    lowest = queue.lowest[flow]
    while lowest < queue.first[flow + 1] and queue.state[lowest] != READY:
        lowest += 1
    queue.lowest[flow] = lowest
    u, v = links.sender[flow], links.receiver[flow]
    src, dst = queue.racks[u], queue.racks[v]
    queue.drawn_w[u] += power_w
    air.power_w[src] += power_w
    air.sending[src] += 1
    air.busy[src, subband] = air.busy[dst, subband] = True
    air.chains[src] -= 1
    air.chains[dst] -= 1


@bare
def release(view: GroupView, table: IntArray, power_w: FloatArray) -> None:
    """Release subbands, RF chains and power of a round's transmissions."""
    air, flying, drawn_w = view.air, view.queue.flying, view.queue.drawn_w
    for a in range(len(table)):
        flow, subband = table[a, LOCAL_FLOW], table[a, SUBBAND]
        i, j, u = table[a, SRC], table[a, DST], view.links.sender[flow]
        air.busy[i, subband] = air.busy[j, subband] = False
        if air.beams.coupled:
            leave(air.beams, subband, table[a, BEAM])
        air.chains[i] += 1
        air.chains[j] += 1
        air.sending[i] -= 1
        air.power_w[i] -= power_w[a]
        drawn_w[u] -= power_w[a]
        flying[flow] -= 1
        if air.sending[i] == 0:  # so that rounding never adds up
            air.power_w[i] = drawn_w[u] = 0.0


@bare
def mark_ready(view: GroupView, rows: IntArray) -> bool:
    """Note that chunks may be sent; False if there is none of this row, or it was known to be."""
    first, ready, lowest = view.queue.first, view.queue.ready, view.queue.lowest
    state = view.queue.state
    for row in rows:
        if not 0 <= row < len(state) or state[row] != IDLE:
            return False
    for row in rows:
        low, high = 0, len(ready)  # the flow in [low, high) whose rows contain this one
        while high - low > 1:
            middle = (low + high) >> 1
            if first[middle] <= row:
                low = middle
            else:
                high = middle
        state[row] = READY
        ready[low] += 1
        lowest[low] = min(lowest[low], row)
    return True


@inner
def write_down(view: GroupView, sent: Sent, now_ps: int) -> Started:
    """Point the chains of new transmissions at each other, note when they end, and look up more."""
    flow, row, chunks, subband, power_w, lasting_ps = sent
    table, facing, first = view.log.table, view.air.facing, view.queue.first
    queue, beams = view.queue, view.air.beams
    n, carried, any_guarded = len(flow), 0, False
    if n > len(table):
        raise ValueError("more transmissions at once than racks have subbands")
    for a in range(n):
        if view.queue.state[row[a]] != SENT:
            raise ValueError("a discipline writes down a transmission that it did not begin")
        i, j, c = view.src[flow[a]], view.dst[flow[a]], subband[a]
        guarded = view.guarded or (view.steers and (facing[i, c] != j or facing[j, c] != i))
        any_guarded = any_guarded or guarded
        facing[i, c], facing[j, c] = j, i
        carried += chunks[a]
        table[a, FLOW], table[a, LOCAL_FLOW] = view.flows[flow[a]], flow[a]
        table[a, FIRST_CHUNK], table[a, CHUNKS] = row[a] - first[flow[a]], chunks[a]
        table[a, SRC], table[a, DST], table[a, SUBBAND] = i, j, c
        table[a, BYTES] = view.bytes_before[row[a] + chunks[a]] - view.bytes_before[row[a]]
        table[a, GUARD] = view.radio.guard_ps if guarded else 0
        view.log.gain[a], view.log.noise_w[a] = view.gains[flow[a], c], queue.promised_w[flow[a], c]
        table[a, BEAM] = number_of(beams, c, i, j) if beams.coupled else 0
        view.log.power_w[a], view.log.lasting_ps[a] = power_w[a], lasting_ps[a]
    for a in range(n):
        if view.common and any_guarded:
            table[a, GUARD] = view.radio.guard_ps
        end_ps = now_ps + table[a, GUARD] + lasting_ps[a]
        view.queue.lands_ps[flow[a]] = end_ps
        view.air.free_ps[table[a, SRC], subband[a]] = end_ps
        view.air.free_ps[table[a, DST], subband[a]] = end_ps
    blocked = False
    for since_ps in view.queue.blocked_ps:
        blocked = blocked or since_ps != NOT_BLOCKED
    return n, carried, blocked


@bare
def claim(view: GroupView, limits_ps: IntArray, soonest_ps: int, in_turn: bool) -> None:
    """Lower ``limits_ps`` of racks to when a flow group could next begin something there.

    No flow of it begins before ``soonest_ps`` and, where every flow sends ``in_turn``, none before
    what it has in the air ends.
    """
    queue, src, dst = view.queue, view.src, view.dst
    for f in range(len(src)):
        if queue.owned[f] > 0:
            begins_ps = soonest_ps
            if in_turn and queue.flying[f] > 0:
                begins_ps = max(begins_ps, queue.lands_ps[f])
            limits_ps[src[f]] = min(limits_ps[src[f]], begins_ps)
            limits_ps[dst[f]] = min(limits_ps[dst[f]], begins_ps)


@bare
def note_changes(view: GroupView, limits_ps: IntArray) -> None:
    """Lower ``until_ps`` of flows to when somebody could begin something at either end."""
    src, dst, until_ps = view.src, view.dst, view.until_ps
    for f in range(len(until_ps)):
        until_ps[f] = min(until_ps[f], limits_ps[src[f]], limits_ps[dst[f]])


@inner
def least_served_first(sent: IntArray) -> IntArray:
    """Flows by transmissions so far, ties by number.

    An insertion sort: they are few and nearly sorted, and it compiles at once.
    """
    flows = np.arange(len(sent))
    for k in range(1, len(flows)):
        flow, place = flows[k], k
        while place > 0 and sent[flows[place - 1]] > sent[flow]:
            flows[place] = flows[place - 1]
            place -= 1
        flows[place] = flow
    return flows
