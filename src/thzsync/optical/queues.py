"""Queues, links and shared buffers: what happens to one packet at one link.

A link's *event* is the instant for which it is scheduled (``set_key``); `look` carries out what has
happened without one. Up-links (rack to switch) and inter-switch links have one event each: the end
of the packet in service, or the instant at which the head packet has passed its switch. Rack-facing
links never wait for room behind them, so a packet's departure is known when it arrives (Lindley's
recursion) and whole trains pass without an event of their own: such a link is woken only when a
chunk's last packet arrives, or when somebody waits for its room. Switches in ``EAGER`` mode, whose
shared buffer might run out, watch every departure. Both ways give the same results to the
picosecond.

Packets of background leave the network behind their link. So an idle link between switches turns
``LAZY`` when background comes, and has no events until a chunk's packet joins its queue, somebody
waits for room in it, or its switch turns eager.
"""

from __future__ import annotations

from thzsync.arrays import NEVER_PS
from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.lists import append, give, take
from thzsync.optical.packets import leave, look, mark, service_ps, without_events, write_trace
from thzsync.optical.racks import enqueue, is_down, is_up, node_hop, occupy, push_flow
from thzsync.optical.tournament import set_key
from thzsync.transfers.precedence import START_AT


@hot
def admit(st: State, up: int, now_ps: int) -> bool:
    """Move packets of ready flows, round-robin, into a NIC queue; False if no row is free."""
    ctl, link, node, flow, pkt = st.ctl, st.link, st.node, st.flow, st.pkt
    w = link[up, c.RING_HEAD]
    while w >= 0:
        n = flow[w, c.F_HEAD]
        left = node[n, c.BYTES] - node[n, c.SENT]
        size = min(left, ctl[c.PACKET])
        if link[up, c.OCC] + size > link[up, c.LIMIT]:
            return True
        if ctl[c.SPARE] <= 0:
            return False
        p = take(ctl, pkt)
        pkt[p, c.P_NODE] = n
        pkt[p, c.P_BYTES] = size
        pkt[p, c.P_LEFT] = left - size
        pkt[p, c.P_HOP] = node_hop(st, up, n)
        pkt[p, c.P_READY] = now_ps + link[up, c.LATENCY]
        enqueue(st, up, p)
        link[up, c.OCC] += size
        node[n, c.SENT] += size
        if left == size:
            flow[w, c.F_HEAD] = node[n, c.N_NEXT]
        following = flow[w, c.F_NEXT]
        if flow[w, c.F_HEAD] < 0:
            flow[w, c.F_ACTIVE] = 0
            link[up, c.RING_HEAD] = following
        elif following >= 0:
            link[up, c.RING_HEAD] = following
            push_flow(st, up, w)
        w = link[up, c.RING_HEAD]
    return True


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
    time = NEVER_PS if p < 0 else st.pkt[p, c.P_END]
    if st.key[ln] != time:
        set_key(st.key, st.tree, ln, time)


@inner_bare
def resume_events(st: State, ln: int, now_ps: int) -> None:
    """Give a lazy link its events back."""
    link, pkt = st.link, st.pkt
    if link[ln, c.STATE] != c.LAZY:
        return
    look(st, ln, now_ps)
    link[ln, c.STATE] = c.RESTING
    p = link[ln, c.HEAD]
    if p < 0:
        return
    event_ps = begins_ps = max(pkt[p, c.P_READY], link[ln, c.LAST_END])
    if begins_ps <= now_ps:
        link[ln, c.STATE] = c.BUSY
        link[ln, c.BEGAN] = begins_ps
        event_ps = pkt[p, c.P_END]
    set_key(st.key, st.tree, ln, event_ps)


@inner_bare
def turn_eager(st: State, s: int, now_ps: int) -> None:
    """Watch every departure of a switch from now on, unless its load proves to be small.

    The load is known only after all departures up to now have been counted.
    """
    switch = st.switch
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        look(st, st.outputs[o], now_ps)
    # The factor two (and the one in `leave`) keeps the mode from changing at every packet.
    if 2 * switch[s, c.LOAD] <= switch[s, c.AMPLE]:
        return
    switch[s, c.EAGER] = 1
    for o in range(switch[s, c.OUT_LO], switch[s, c.OUT_HI]):
        ln = st.outputs[o]
        if st.link[ln, c.WAIT_HEAD] >= 0:
            mark(st, ln)
        resume_events(st, ln, now_ps)
        if is_down(st, ln) and st.link[ln, c.HEAD] >= 0:
            rekey(st, ln)


@hot
def add_load(st: State, s: int, size: int, now_ps: int) -> None:
    """Count what a switch holds, or will hold once there is room for it."""
    st.switch[s, c.LOAD] += size
    if st.switch[s, c.LOAD] > st.switch[s, c.AMPLE] and st.switch[s, c.EAGER] == 0:
        turn_eager(st, s, now_ps)


@hot
def reserve(st: State, q: int, size: int, now_ps: int) -> None:
    """Take room in a switch's queue and shared buffer."""
    occupy(st, q, size)
    add_load(st, st.link[q, c.SWITCH], size, now_ps)


@hot
def join(st: State, q: int, p: int, now_ps: int) -> None:
    """Put a packet at the end of a switch's output queue; `look` has been called for it."""
    link, pkt = st.link, st.pkt
    ready = now_ps + link[q, c.LATENCY]
    pkt[p, c.P_READY] = ready
    n = pkt[p, c.P_NODE]
    pkt[p, c.P_HOP] = node_hop(st, q, n) if n >= 0 else -1
    was_empty = link[q, c.HEAD] < 0
    if without_events(st, q):
        free_at = link[q, c.LAST_END] if was_empty else pkt[link[q, c.TAIL], c.P_END]
        end = NEVER_PS
        if link[q, c.RATE] > 0:
            end = max(ready, free_at) + service_ps(st, q, pkt[p, c.P_BYTES])
        pkt[p, c.P_END] = end
        enqueue(st, q, p)
        if watched(st, q):
            if was_empty:
                set_key(st.key, st.tree, q, end)
        elif pkt[p, c.P_LEFT] == 0 and st.key[q] == NEVER_PS:
            set_key(st.key, st.tree, q, end)
        return
    enqueue(st, q, p)
    if was_empty and link[q, c.STATE] == c.RESTING and link[q, c.RATE] > 0:
        set_key(st.key, st.tree, q, ready)


@hot
def enter(st: State, q: int, p: int, now_ps: int) -> None:
    """A packet whose room is reserved joins a switch's output queue."""
    look(st, q, now_ps)  # also frees rows of packets that have left, while they are still cached
    if st.link[q, c.STATE] == c.LAZY:
        resume_events(st, q, now_ps)
    join(st, q, p, now_ps)


@hot
def background_packet(st: State, size: int) -> int:
    """A packet of background, which leaves the network behind its link."""
    p = take(st.ctl, st.pkt)
    st.pkt[p, c.P_NODE] = -1
    st.pkt[p, c.P_BYTES] = size
    st.pkt[p, c.P_LEFT] = -1
    return p


@hot
def enter_burst(st: State, q: int, now_ps: int) -> None:
    """A burst that finds room joins a switch's output queue; if alone there, without events."""
    link, size = st.link, st.ctl[c.BURST]
    occupy(st, q, size)
    look(st, q, now_ps)
    idle = link[q, c.HEAD] < 0 and link[q, c.STATE] == c.RESTING
    if idle and not is_down(st, q) and not watched(st, q):
        link[q, c.STATE] = c.LAZY
        link[q, c.LAST_END] = now_ps
    while size > 0:
        join(st, q, background_packet(st, min(size, st.ctl[c.PACKET])), now_ps)
        size -= st.ctl[c.PACKET]


@hot
def start(st: State, ln: int, q: int, now_ps: int) -> None:
    """Begin to send a link's head packet to queue q (-1: out of the network)."""
    link, p = st.link, st.link[ln, c.HEAD]
    size = st.pkt[p, c.P_BYTES]
    if q >= 0:
        reserve(st, q, size, now_ps)
    link[ln, c.STATE] = c.BUSY
    link[ln, c.BEGAN] = now_ps
    set_key(st.key, st.tree, ln, now_ps + service_ps(st, ln, size))
    if is_up(st, ln) and st.task[st.pkt[p, c.P_NODE], START_AT] < 0:
        st.task[st.pkt[p, c.P_NODE], START_AT] = now_ps


@hot
def finish(st: State, ln: int, now_ps: int) -> None:
    """The last bit of an up-link's or inter-switch link's packet has left."""
    p = int(st.link[ln, c.HEAD])
    leave(st, ln, p)
    if st.ctl[c.TRACING] == 1:
        write_trace(st, ln, p, st.link[ln, c.BEGAN], now_ps)
    st.link[ln, c.STATE] = c.RESTING
    q = st.pkt[p, c.P_HOP]
    if q >= 0:
        enter(st, q, p, now_ps)
    else:
        give(st.ctl, st.pkt, p)


@hot
def request(st: State, r: int, q: int, now_ps: int) -> None:
    """Wait for room in queue q: request r is a link, or ``links + q`` for the background of q."""
    link = st.link
    resume_events(st, q, now_ps)
    st.stamp[r] = st.ctl[c.STAMP]
    st.ctl[c.STAMP] += 1
    st.switch[link[q, c.SWITCH], c.WAITERS] += 1
    if link[q, c.WAIT_HEAD] < 0:
        mark(st, q)
    append(link, q, c.WAIT_HEAD, c.WAIT_TAIL, st.wait, r)


@hot
def finds_room(st: State, q: int, size: int, now_ps: int) -> bool:
    """Whether a packet may enter a queue at once, without the grants at the end of the instant.

    So it is if nobody waits for the queue, the shared buffer cannot run out, and there is room.
    """
    link = st.link
    if link[q, c.WAIT_HEAD] >= 0 or st.switch[link[q, c.SWITCH], c.EAGER] == 1:
        return False
    if link[q, c.OCC] + size > link[q, c.LIMIT]:
        look(st, q, now_ps)
    return bool(link[q, c.OCC] + size <= link[q, c.LIMIT])


@hot
def attempt(st: State, ln: int, now_ps: int) -> None:
    """An idle up-link or inter-switch link tries to send its head packet, or waits for room."""
    link, p = st.link, st.link[ln, c.HEAD]
    time = NEVER_PS
    if p >= 0 and link[ln, c.RATE] > 0:
        q = st.pkt[p, c.P_HOP]
        if st.pkt[p, c.P_READY] > now_ps:
            time = st.pkt[p, c.P_READY]
        elif q < 0 or finds_room(st, q, st.pkt[p, c.P_BYTES], now_ps):
            start(st, ln, q, now_ps)
            return
        else:
            link[ln, c.STATE] = c.WAITING
            request(st, ln, q, now_ps)
    if st.key[ln] != time:
        set_key(st.key, st.tree, ln, time)
