"""Queues, links and shared buffers: what happens to one packet at one link.

Up-links (rack to switch) and inter-switch links have one event each: the end of the packet in
service, or the instant at which the head packet has passed its switch. Rack-facing links never
wait for room behind them, so a packet's departure is known when it arrives (Lindley's recursion)
and whole trains pass without an event of their own: such a link is woken only when a chunk's last
packet arrives, or when somebody waits for its room. Switches in ``EAGER`` mode, whose shared
buffer might run out, watch every departure. Both ways give the same results to the picosecond.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.nic import free_ticket, leaving_bytes
from thzsync.optical.tournament import set_key
from thzsync.transfers.precedence import START_AT, push_done


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
    """A free packet row, or -1 when the pool is empty."""
    p = st.ctl[c.FREE]
    if p >= 0:
        st.ctl[c.FREE] = st.pkt[p, c.P_NEXT]
    return int(p)


@hot
def free_packet(st: State, p: int) -> None:
    """Give a packet row back."""
    st.pkt[p, c.P_NEXT] = st.ctl[c.FREE]
    st.ctl[c.FREE] = p


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
def watched(st: State, ln: int) -> bool:
    """Whether every departure of a rack-facing link must be seen at its instant."""
    eager = st.switch[st.link[ln, c.SWITCH], c.EAGER]
    return bool(st.link[ln, c.WAIT_HEAD] >= 0 or eager == 1 or st.ctl[c.TRAINS] == 0)


@inner_bare
def rekey(st: State, ln: int) -> None:
    """Schedule a rack-facing link: its next departure if watched, else its next chunk's arrival."""
    p = st.link[ln, c.HEAD]
    if not watched(st, ln):
        while p >= 0 and st.pkt[p, c.P_LEFT] != 0:
            p = st.pkt[p, c.P_NEXT]
    time = c.NEVER if p < 0 else st.pkt[p, c.P_END]
    if st.key[ln] != time:
        set_key(st.key, st.tree, ln, time)


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
    """Let every packet of a rack-facing link leave whose last bit has left by now.

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


@inner_bare
def turn_eager(st: State, s: int, now_ps: int) -> None:
    """Watch every departure of a switch from now on, unless settling shows ample room."""
    switch = st.switch
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        ln = st.todo[o, c.OUTPUTS]
        if is_down(st, ln):
            settle(st, ln, now_ps, False)
    # the factor two (and the one in `leave`) keeps the mode from flapping
    if 2 * switch[s, c.LOAD] <= switch[s, c.AMPLE]:
        return
    switch[s, c.EAGER] = 1
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        ln = st.todo[o, c.OUTPUTS]
        if st.link[ln, c.WAIT_HEAD] >= 0:
            mark(st, ln)
        if is_down(st, ln) and st.link[ln, c.HEAD] >= 0:
            rekey(st, ln)


@hot
def reserve(st: State, q: int, size: int, now_ps: int) -> None:
    """Take room in a switch's queue and shared buffer."""
    switch = st.switch
    s = st.link[q, c.SWITCH]
    st.link[q, c.OCC] += size
    switch[s, c.TOTAL] += size
    switch[s, c.LOAD] += size
    if q >= 2 * st.ctl[c.RACKS]:
        switch[s, c.INTER] += size
    if switch[s, c.LOAD] > switch[s, c.AMPLE] and switch[s, c.EAGER] == 0:
        turn_eager(st, s, now_ps)


@hot
def enter(st: State, q: int, p: int, now_ps: int) -> None:
    """A packet whose room is reserved joins a switch's output queue."""
    link, pkt = st.link, st.pkt
    ready = now_ps + st.ctl[c.DELAY]
    pkt[p, c.P_READY] = ready
    if is_down(st, q):
        settle(st, q, now_ps, False)  # a train passes, but its rows are reused while still cached
    was_empty = link[q, c.HEAD] < 0
    if is_down(st, q):
        free_at = link[q, c.LAST_END] if was_empty else pkt[link[q, c.TAIL], c.P_END]
        end = c.NEVER
        if link[q, c.RATE] > 0:
            end = max(ready, free_at) + service_ps(st, q, pkt[p, c.P_BYTES])
        pkt[p, c.P_END] = end
        append(st, q, p)
        if watched(st, q):
            if was_empty:
                set_key(st.key, st.tree, q, end)
        elif pkt[p, c.P_LEFT] == 0 and st.key[q] == c.NEVER:
            set_key(st.key, st.tree, q, end)
        return
    pkt[p, c.P_HOP] = pkt[p, c.P_DOWN]
    append(st, q, p)
    if was_empty and link[q, c.STATE] == c.RESTING and link[q, c.RATE] > 0:
        set_key(st.key, st.tree, q, ready)


@hot
def head_hop(st: State, ln: int) -> int:
    """The queue that the head packet of an up-link or inter-switch link goes to; -1: none."""
    head = st.link[ln, c.HEAD]
    if ln < st.ctl[c.RACKS]:
        return int(st.node[st.ticket[head, c.K_NODE], c.FIRST])
    return int(st.pkt[head, c.P_HOP])


@hot
def head_bytes(st: State, ln: int) -> int:
    """Size of the head packet of an up-link or inter-switch link [bytes]."""
    head = st.link[ln, c.HEAD]
    if ln < st.ctl[c.RACKS]:
        return leaving_bytes(st, st.ticket[head, c.K_NODE])
    return int(st.pkt[head, c.P_BYTES])


@hot
def start(st: State, ln: int, q: int, now_ps: int) -> None:
    """Begin to send a link's head packet towards queue q (-1: out of the network)."""
    link = st.link
    size = head_bytes(st, ln)
    if q >= 0:
        reserve(st, q, size, now_ps)
    link[ln, c.STATE] = c.BUSY
    link[ln, c.BEGAN] = now_ps
    set_key(st.key, st.tree, ln, now_ps + service_ps(st, ln, size))
    if ln < st.ctl[c.RACKS]:
        n = st.ticket[link[ln, c.HEAD], c.K_NODE]
        if st.node[n, c.GONE] == 0:
            st.task[n, START_AT] = now_ps


@hot
def leave_rack(st: State, rack: int) -> int:
    """Turn the ticket of a packet whose last bit has left its rack into a packet."""
    ctl, link, node, pkt = st.ctl, st.link, st.node, st.pkt
    k = link[rack, c.HEAD]
    n = st.ticket[k, c.K_NODE]
    size = leaving_bytes(st, n)
    p = take_packet(st)
    node[n, c.GONE] += size
    pkt[p, c.P_NODE] = n
    pkt[p, c.P_BYTES] = size
    pkt[p, c.P_LEFT] = node[n, c.BYTES] - node[n, c.GONE]
    pkt[p, c.P_HOP] = node[n, c.FIRST]
    pkt[p, c.P_DOWN] = node[n, c.DOWN]
    if ctl[c.TRACING] == 1:
        pkt[p, c.P_READY] = st.admitted[k]
    link[rack, c.HEAD] = st.ticket[k, c.K_NEXT]
    link[rack, c.OCC] -= size
    link[rack, c.CARRIED] += size
    ctl[c.HOPS] += 1
    free_ticket(st, k)
    return p


@hot
def finish(st: State, ln: int, now_ps: int) -> None:
    """The last bit of an up-link's or inter-switch link's packet has left."""
    if ln < st.ctl[c.RACKS]:
        p = leave_rack(st, ln)
    else:
        p = int(st.link[ln, c.HEAD])
        leave(st, ln, p)
    if st.ctl[c.TRACING] == 1:
        write_trace(st, ln, p, st.link[ln, c.BEGAN], now_ps)
    st.link[ln, c.STATE] = c.RESTING
    q = st.pkt[p, c.P_HOP]
    if q >= 0:
        enter(st, q, p, now_ps)
    else:
        free_packet(st, p)


@hot
def request(st: State, r: int, q: int) -> None:
    """Queue up for room: request r is a link, or ``links + q`` for the background of q."""
    link, wait = st.link, st.wait
    wait[r, c.W_NEXT] = -1
    wait[r, c.W_STAMP] = st.ctl[c.STAMP]
    st.ctl[c.STAMP] += 1
    st.switch[link[q, c.SWITCH], c.WAITERS] += 1
    if link[q, c.WAIT_HEAD] < 0:
        link[q, c.WAIT_HEAD] = r
        link[q, c.WAIT_TAIL] = r
        mark(st, q)
    else:
        wait[link[q, c.WAIT_TAIL], c.W_NEXT] = r
        link[q, c.WAIT_TAIL] = r


@hot
def attempt(st: State, ln: int, now_ps: int) -> None:
    """An idle up-link or inter-switch link tries to send its head packet, or waits for room."""
    link = st.link
    time = c.NEVER
    if link[ln, c.HEAD] >= 0 and link[ln, c.RATE] > 0:
        q = head_hop(st, ln)
        if ln >= st.ctl[c.RACKS] and st.pkt[link[ln, c.HEAD], c.P_READY] > now_ps:
            time = st.pkt[link[ln, c.HEAD], c.P_READY]
        elif q < 0:
            start(st, ln, q, now_ps)
            return
        else:
            # nobody older waits and the shared buffer cannot run out: no need to queue up
            if link[q, c.WAIT_HEAD] < 0 and st.switch[link[q, c.SWITCH], c.EAGER] == 0:
                size = head_bytes(st, ln)
                if link[q, c.OCC] + size > link[q, c.LIMIT] and is_down(st, q):
                    settle(st, q, now_ps, False)
                if link[q, c.OCC] + size <= link[q, c.LIMIT]:
                    start(st, ln, q, now_ps)
                    return
            link[ln, c.STATE] = c.WAITING
            request(st, ln, q)
    if st.key[ln] != time:
        set_key(st.key, st.tree, ln, time)
