"""What the caller may do between two instants: take chunks away, change rates, look."""

from __future__ import annotations

from thzsync.arrays import NEVER_PS, BoolArray, FloatArray, IntArray
from thzsync.jit import bare, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.lists import remove
from thzsync.optical.packets import look, mark, service_ps, settle
from thzsync.optical.queues import rekey, resume_events
from thzsync.optical.racks import (
    is_down,
    kick,
    leave_flow,
    leave_nic,
    next_hop,
    take_fresh,
)
from thzsync.optical.tournament import set_key
from thzsync.transfers import precedence as pre


@inner_bare
def withdraw(st: State, ln: int) -> None:
    """A link gives up its request for room."""
    link, q = st.link, st.pkt[st.link[ln, c.HEAD], c.P_HOP]
    remove(link, q, c.WAIT_HEAD, c.WAIT_TAIL, st.wait, ln)
    st.switch[link[q, c.SWITCH], c.WAITERS] -= 1
    link[ln, c.STATE] = c.RESTING
    if link[q, c.WAIT_HEAD] >= 0:
        mark(st, q)


@bare
def leave_fibre(st: State, nodes: IntArray, carrier: int, accepted: BoolArray) -> None:
    """Chunks of which no packet has begun to leave the rack change to a carrier."""
    take_fresh(st)
    for k in range(len(nodes)):
        n = nodes[k]
        accepted[k] = pre.leave_fibre(st.clock, st.task, st.slots, n, carrier)
        if not accepted[k] or st.task[n, pre.READY_AT] < 0:
            continue
        up = st.node[n, c.UP]
        if st.node[n, c.SENT] > 0:
            waiting = st.link[up, c.STATE] == c.WAITING
            if waiting and st.pkt[st.link[up, c.HEAD], c.P_NODE] == n:
                withdraw(st, up)
            leave_nic(st, n)
        leave_flow(st, n)


@inner_bare
def reschedule_down(st: State, ln: int) -> None:
    """Work out a rack-facing link's departures anew; a packet in service keeps its end."""
    link, pkt = st.link, st.pkt
    now = st.clock[pre.NOW]
    settle(st, ln, now, False)
    p = link[ln, c.HEAD]
    if (
        p >= 0
        and pkt[p, c.P_END] != NEVER_PS
        and max(pkt[p, c.P_READY], link[ln, c.LAST_END]) <= now
    ):
        free_at = pkt[p, c.P_END]
        p = pkt[p, c.P_NEXT]
    else:
        free_at = max(link[ln, c.LAST_END], now)
        link[ln, c.LAST_END] = free_at
    while p >= 0:
        pkt[p, c.P_END] = NEVER_PS
        if link[ln, c.RATE] > 0:
            free_at = max(free_at, pkt[p, c.P_READY]) + service_ps(st, ln, pkt[p, c.P_BYTES])
            pkt[p, c.P_END] = free_at
        p = pkt[p, c.P_NEXT]
    rekey(st, ln)


@bare
def set_rate(st: State, ln: int, rate_bps: int) -> None:
    """Packets that start from now on take the new rate; with rate 0 none starts."""
    take_fresh(st)  # racks with something new are served before this link
    link = st.link
    resume_events(st, ln, st.clock[pre.NOW])
    link[ln, c.RATE] = rate_bps
    link[ln, c.FULL] = 0
    if rate_bps > 0:
        link[ln, c.FULL] = (st.ctl[c.PACKET] * 8_000_000_000_000 + rate_bps - 1) // rate_bps
    if is_down(st, ln):
        reschedule_down(st, ln)
        return
    if rate_bps == 0 and link[ln, c.STATE] == c.WAITING:
        withdraw(st, ln)
    if rate_bps == 0 and link[ln, c.STATE] == c.RESTING:
        set_key(st.key, st.tree, ln, NEVER_PS)
    elif link[ln, c.STATE] == c.RESTING:
        kick(st, ln)


@inner_bare
def look_at(st: State, s: int) -> None:
    """Bring all outputs of a switch up to now."""
    for o in range(st.switch[s, c.OUT_LO], st.switch[s, c.OUT_HI]):
        look(st, st.outputs[o], st.clock[pre.NOW])


@bare
def look_at_all(st: State) -> None:
    """Bring the counters of every link up to now."""
    for s in range(len(st.switch)):
        look_at(st, s)


@bare
def occupancy(
    st: State, first: IntArray, rack: IntArray, chosen: IntArray, queued_bytes: IntArray,
    fraction: FloatArray,
) -> None:  # fmt: skip
    """Queued bytes along wired paths, and the fullest shared buffer on each (Q and U).

    A path is given by its first link, the rack at its end and the hash that picks among equals.
    """
    link, switch, pool = st.link, st.switch, st.pool
    st.ctl[c.LOOKS] += 1
    for k in range(len(first)):
        ln, queued, full = first[k], 0, 0.0
        while ln >= 0:
            s = link[ln, c.SWITCH]
            if s >= 0:
                if switch[s, c.LOOKED] != st.ctl[c.LOOKS]:
                    switch[s, c.LOOKED] = st.ctl[c.LOOKS]
                    look_at(st, s)
                full = max(full, pool[s, c.USED] / pool[s, c.ROOM])
            queued += link[ln, c.OCC]
            ln = next_hop(st, ln, rack[k], chosen[k])
        queued_bytes[k] = queued
        fraction[k] = full
