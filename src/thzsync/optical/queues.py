"""Queues, links and shared buffers: what happens to one packet at one link.

Up-links (rack to switch) and inter-switch links have one event each: the end of the packet in
service, or the instant at which the head packet has passed its switch. Rack-facing links never
wait for room behind them, so a packet's departure is known when it arrives (Lindley's recursion)
and whole trains pass without an event of their own: such a link is woken only when a chunk's last
packet arrives, or when somebody waits for its room. Switches in ``EAGER`` mode, whose shared
buffer might run out, watch every departure. Both ways give the same results to the picosecond.
Background that meets nobody needs no events at all: see ahead.py.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.ahead import give_back, glide, look, stop_gliding
from thzsync.optical.layout import State
from thzsync.optical.nic import free_ticket, leaving_bytes
from thzsync.optical.packets import (
    append,
    free_packet,
    is_down,
    leave,
    mark,
    service_ps,
    take_packet,
    write_trace,
)
from thzsync.optical.tournament import set_key
from thzsync.transfers.precedence import START_AT


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


@inner_bare
def turn_eager(st: State, s: int, coming_bytes: int, now_ps: int) -> None:
    """Watch every departure of a switch from now on, unless looking shows ample room."""
    switch = st.switch
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        ln = st.todo[o, c.OUTPUTS]
        look(st, ln, now_ps)
        if st.link[ln, c.AHEAD] > 0:
            give_back(st, ln, 0)
    # the factor two (and the one in `leave`) keeps the mode from flapping
    if 2 * (switch[s, c.LOAD] + coming_bytes) <= switch[s, c.AMPLE]:
        return
    switch[s, c.EAGER] = 1
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        ln = st.todo[o, c.OUTPUTS]
        if st.link[ln, c.WAIT_HEAD] >= 0:
            mark(st, ln)
        if st.link[ln, c.STATE] == c.GLIDING:
            stop_gliding(st, ln, now_ps)
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
        turn_eager(st, s, 0, now_ps)
    if st.link[q, c.AHEAD] > 0:
        room = st.link[q, c.LIMIT] - st.link[q, c.OCC]
        if st.link[q, c.AHEAD] * st.ctl[c.BURST] > room:
            give_back(st, q, room // st.ctl[c.BURST])


@hot
def enter(st: State, q: int, p: int, now_ps: int) -> None:
    """A packet whose room is reserved joins a switch's output queue."""
    link, pkt = st.link, st.pkt
    ready = now_ps + st.ctl[c.DELAY]
    pkt[p, c.P_READY] = ready
    look(st, q, now_ps)  # a train passes, but its rows are reused while still cached
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
    if link[q, c.STATE] == c.GLIDING:
        stop_gliding(st, q, now_ps)
    link[q, c.CHUNKS] += pkt[p, c.P_NODE] >= 0
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
    ctl[c.SPARE] -= 1
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
        st.link[ln, c.CHUNKS] -= st.pkt[p, c.P_NODE] >= 0
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
def request(st: State, r: int, q: int, now_ps: int) -> None:
    """Queue up for room: request r is a link, or ``links + q`` for the background of q."""
    link, wait = st.link, st.wait
    if link[q, c.AHEAD] > 0:
        give_back(st, q, 0)
    if link[q, c.STATE] == c.GLIDING:
        stop_gliding(st, q, now_ps)
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
    if ln >= st.ctl[c.RACKS] and link[ln, c.CHUNKS] == 0:
        look(st, ln, now_ps)
        if glide(st, ln, now_ps):
            return
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
                if link[q, c.OCC] + size > link[q, c.LIMIT] - link[q, c.AHEAD] * st.ctl[c.BURST]:
                    look(st, q, now_ps)
                if link[q, c.OCC] + size <= link[q, c.LIMIT]:
                    start(st, ln, q, now_ps)
                    return
            link[ln, c.STATE] = c.WAITING
            request(st, ln, q, now_ps)
    if st.key[ln] != time:
        set_key(st.key, st.tree, ln, time)
