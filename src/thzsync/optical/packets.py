"""Packets in the queues of switches: rows of a pool, in line, and out again."""

from __future__ import annotations

from thzsync.jit import hot
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.transfers.precedence import push_done


@hot
def service_ps(st: State, ln: int, size_bytes: int) -> int:
    """Time of a packet on a link, rounded up [ps]; exact while packets are at most 1 MiB."""
    if size_bytes == st.ctl[c.PACKET]:
        return int(st.link[ln, c.FULL])
    rate_bps = st.link[ln, c.RATE]
    return int((size_bytes * 8_000_000_000_000 + rate_bps - 1) // rate_bps)


@hot
def is_down(st: State, ln: int) -> bool:
    """Whether a link leads from a switch to a rack."""
    return bool(st.ctl[c.RACKS] <= ln < 2 * st.ctl[c.RACKS])


@hot
def take_packet(st: State) -> int:
    """A free packet row; the caller has seen to it that one is spare, or was promised."""
    p = st.ctl[c.FREE]
    st.ctl[c.FREE] = st.pkt[p, c.P_NEXT]
    return int(p)


@hot
def free_packet(st: State, p: int) -> None:
    """Give a packet row back."""
    st.pkt[p, c.P_NEXT] = st.ctl[c.FREE]
    st.ctl[c.FREE] = p
    st.ctl[c.SPARE] += 1


@hot
def append(st: State, ln: int, p: int) -> None:
    """Put a packet at the end of a link's queue."""
    st.pkt[p, c.P_NEXT] = -1
    tail = st.link[ln, c.TAIL]
    if st.link[ln, c.HEAD] < 0:
        st.link[ln, c.HEAD] = p
    else:
        st.pkt[tail, c.P_NEXT] = p
    st.link[ln, c.TAIL] = p


@hot
def mark(st: State, q: int) -> None:
    """Remember that requests for room in a queue (or at its switch) must be looked at."""
    ctl, link, switch = st.ctl, st.link, st.switch
    s = link[q, c.SWITCH]
    if switch[s, c.EAGER] == 1:
        if switch[s, c.S_MARKED] == 0:
            switch[s, c.S_MARKED] = 1
            st.todo[ctl[c.N_GRANTS], c.GRANTED] = len(link) + s
            ctl[c.N_GRANTS] += 1
    elif link[q, c.MARKED] & c.GRANT_MARK == 0:
        link[q, c.MARKED] |= c.GRANT_MARK
        st.todo[ctl[c.N_GRANTS], c.GRANTED] = q
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
    """Take the head packet off a switch's queue after its last bit has left, and free its room."""
    ctl, link, pkt, switch = st.ctl, st.link, st.pkt, st.switch
    size = pkt[p, c.P_BYTES]
    link[ln, c.HEAD] = pkt[p, c.P_NEXT]
    link[ln, c.OCC] -= size
    ctl[c.HOPS] += 1
    if pkt[p, c.P_NODE] < 0:
        link[ln, c.BG_CARRIED] += size
    else:
        link[ln, c.CARRIED] += size
    s = link[ln, c.SWITCH]
    switch[s, c.TOTAL] -= size
    switch[s, c.LOAD] -= size
    if ln >= 2 * ctl[c.RACKS]:
        switch[s, c.INTER] -= size
    if switch[s, c.EAGER] == 0:
        if link[ln, c.WAIT_HEAD] >= 0:
            mark(st, ln)
    elif switch[s, c.WAITERS] > 0:
        mark(st, ln)
    elif 2 * switch[s, c.LOAD] <= switch[s, c.AMPLE]:
        switch[s, c.EAGER] = 0


@hot
def settle(st: State, ln: int, now_ps: int, deliver: bool) -> None:
    """Let every packet of a rack-facing or gliding link leave whose last bit has left by now.

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
        free_packet(st, p)
        p = link[ln, c.HEAD]
