"""Packets that leave the queues of switches, one by one or all whose last bit has left by now."""

from __future__ import annotations

from thzsync.jit import hot
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.lists import give
from thzsync.optical.racks import is_down, is_up, occupy
from thzsync.transfers.precedence import push_done


@hot
def service_ps(st: State, ln: int, size_bytes: int) -> int:
    """Time of a packet on a link, rounded up [ps]; exact while packets are at most 1 MiB."""
    if size_bytes == st.ctl[c.PACKET]:
        return int(st.link[ln, c.FULL])
    rate_bps = st.link[ln, c.RATE]
    return int((size_bytes * 8_000_000_000_000 + rate_bps - 1) // rate_bps)


@hot
def mark(st: State, q: int) -> None:
    """Remember that requests for room in a queue (or at its switch) must be looked at."""
    ctl, link, switch = st.ctl, st.link, st.switch
    s = link[q, c.SWITCH]
    if switch[s, c.EAGER] == 1:
        if switch[s, c.S_MARKED] == 0:
            switch[s, c.S_MARKED] = 1
            st.granted[ctl[c.N_GRANTS]] = len(link) + s
            ctl[c.N_GRANTS] += 1
    elif link[q, c.MARKED] == 0:
        link[q, c.MARKED] = 1
        st.granted[ctl[c.N_GRANTS]] = q
        ctl[c.N_GRANTS] += 1


@hot
def write_trace(st: State, ln: int, p: int, start_ps: int, end_ps: int) -> None:
    """Note one packet's passage over one link."""
    row = st.trace[st.ctl[c.TRACED]]
    st.ctl[c.TRACED] += 1
    row[c.T_LINK] = ln
    row[c.T_NODE] = st.pkt[p, c.P_NODE]
    row[c.T_LEFT] = st.pkt[p, c.P_LEFT]
    row[c.T_BYTES] = st.pkt[p, c.P_BYTES]
    row[c.T_READY] = st.pkt[p, c.P_READY]
    row[c.T_START] = start_ps
    row[c.T_END] = end_ps


@hot
def leave(st: State, ln: int, p: int) -> None:
    """Take the head packet off a queue after its last bit has left, and free its room."""
    ctl, link, pkt, switch = st.ctl, st.link, st.pkt, st.switch
    size = pkt[p, c.P_BYTES]
    link[ln, c.HEAD] = pkt[p, c.P_NEXT]
    link[ln, c.BG_CARRIED if pkt[p, c.P_NODE] < 0 else c.CARRIED] += size
    ctl[c.HOPS] += 1
    if is_up(st, ln):
        link[ln, c.OCC] -= size
        return
    occupy(st, ln, -size)
    s = link[ln, c.SWITCH]
    switch[s, c.LOAD] -= size
    if switch[s, c.EAGER] == 0:
        if link[ln, c.WAIT_HEAD] >= 0:
            mark(st, ln)
    elif switch[s, c.WAITERS] > 0:
        mark(st, ln)
    elif 2 * switch[s, c.LOAD] <= switch[s, c.AMPLE]:
        switch[s, c.EAGER] = 0


@hot
def settle(st: State, ln: int, now_ps: int, deliver: bool) -> None:
    """Let every packet of a link without events leave whose last bit has left by now.

    Without ``deliver``, a chunk's last packet due right now stays for the link's own event, so
    that chunks complete in the order of their links.
    """
    ctl, link, pkt = st.ctl, st.link, st.pkt
    p = link[ln, c.HEAD]
    while p >= 0 and pkt[p, c.P_END] <= now_ps:
        if pkt[p, c.P_LEFT] == 0:
            if not deliver:
                return
            push_done(st.clock, st.slots, pkt[p, c.P_NODE])
        end = pkt[p, c.P_END]
        leave(st, ln, p)
        if ctl[c.TRACING] == 1:
            write_trace(st, ln, p, max(pkt[p, c.P_READY], link[ln, c.LAST_END]), end)
        link[ln, c.LAST_END] = end
        give(ctl, pkt, p)
        p = link[ln, c.HEAD]


@hot
def without_events(st: State, q: int) -> bool:
    """Whether the departures of a switch output follow from its arrivals."""
    return bool(is_down(st, q) or st.link[q, c.STATE] == c.LAZY)


@hot
def look(st: State, q: int, now_ps: int) -> None:
    """Bring a switch output up to now: what has left has left."""
    if without_events(st, q):
        settle(st, q, now_ps, False)
