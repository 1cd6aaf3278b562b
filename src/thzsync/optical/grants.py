"""Who gets room at a switch, and when.

Requests at a switch are considered oldest first. A request needs room in its queue, room below
the ring-facing limit if its queue faces another switch, and room in the shared buffer. A younger
request passes an older one only if it does not need what the older one lacks. So nobody starves,
and nobody waits behind somebody who waits for something else.

Why the fabric cannot deadlock while its links are up. Let B be a switch's shared buffer and
R >= one packet the part that only rack-facing outputs may use; I and D are the bytes that
ring-facing and rack-facing outputs hold, reservations included. Always I <= B - R, I + D <= B.

1. A packet in a rack-facing queue needs no further room: it leaves after the packets before it.
   So D falls to 0 in bounded time unless new packets are let in.
2. Take the oldest request that has room in its queue and, if ring-facing, below I's limit. While
   it lacks shared room nobody younger is let in, so D falls; at D = 0 it fits, since then
   I + packet <= B - R + packet <= B. Room in a rack-facing queue appears by 1, and requests for
   one queue are served in order. So every request for a rack-facing queue is served in time.
3. A packet in a ring-facing queue s -> t goes on to a rack-facing queue of t, which by 2 lets it
   in. So ring-facing queues move, I falls, and requests below I's limit are served in order.
4. The head of a NIC queue waits for a rack-facing (2) or ring-facing (3) queue, so it moves too.

Waiting points from racks to ring-facing to rack-facing queues and never in a circle.
"""

from __future__ import annotations

from thzsync.arrays import NEVER_PS
from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.packets import look
from thzsync.optical.queues import background_packet, enter, rekey, request, reserve, start
from thzsync.optical.racks import is_down


@hot
def wanted_bytes(st: State, r: int) -> int:
    """Size of the packet that request r wants to send [bytes]."""
    links = len(st.link)
    if r < links:
        return int(st.pkt[st.link[r, c.HEAD], c.P_BYTES])
    return int(min(st.burst[r - links, c.BG_LEFT], st.ctl[c.PACKET]))


@inner_bare
def admit_background(st: State, q: int, now_ps: int) -> None:
    """Let the next packet of a waiting burst into its queue; the rest asks again."""
    size = min(st.burst[q, c.BG_LEFT], st.ctl[c.PACKET])
    st.switch[st.link[q, c.SWITCH], c.LOAD] -= size  # counted since the burst came
    reserve(st, q, size, now_ps)
    enter(st, q, background_packet(st, size), now_ps)
    st.burst[q, c.BG_LEFT] -= size
    if st.burst[q, c.BG_LEFT] == 0 and st.burst[q, c.BG_BURSTS] > 0:
        st.burst[q, c.BG_BURSTS] -= 1
        st.burst[q, c.BG_LEFT] = st.ctl[c.BURST]
    if st.burst[q, c.BG_LEFT] > 0:
        request(st, len(st.link) + q, q, now_ps)


@hot
def grant(st: State, q: int, now_ps: int) -> None:
    """Serve the oldest request for a queue."""
    link = st.link
    r = link[q, c.WAIT_HEAD]
    link[q, c.WAIT_HEAD] = st.wait[r]
    st.switch[link[q, c.SWITCH], c.WAITERS] -= 1
    if r < len(link):
        start(st, r, q, now_ps)
    else:
        admit_background(st, q, now_ps)


@hot
def fits_queue(st: State, q: int, now_ps: int) -> bool:
    """Whether the oldest request for a queue finds room in it."""
    size = wanted_bytes(st, st.link[q, c.WAIT_HEAD])
    if st.link[q, c.OCC] + size > st.link[q, c.LIMIT]:
        look(st, q, now_ps)
    return bool(st.link[q, c.OCC] + size <= st.link[q, c.LIMIT])


@inner_bare
def grant_queue(st: State, q: int, now_ps: int) -> bool:
    """Serve a queue's requests in order while they fit; the shared buffer is known to be ample."""
    while st.link[q, c.WAIT_HEAD] >= 0 and fits_queue(st, q, now_ps):
        if st.ctl[c.SPARE] <= 0:
            return False
        grant(st, q, now_ps)
    if st.link[q, c.WAIT_HEAD] >= 0 and is_down(st, q):
        rekey(st, q)
    return True


@hot
def oldest_request(st: State, s: int, ring_facing: bool, now_ps: int) -> int:
    """The queue of switch s whose first request is oldest among those with room; -1 if none."""
    best, best_stamp = -1, NEVER_PS
    first_inter = 2 * st.ctl[c.RACKS]
    for o in range(st.switch[s, c.OUT_LO], st.switch[s, c.OUT_HI]):
        q = st.outputs[o]
        r = st.link[q, c.WAIT_HEAD]
        if r < 0 or (q >= first_inter and not ring_facing):
            continue
        stamp = st.stamp[r]
        if stamp < best_stamp and fits_queue(st, q, now_ps):
            best, best_stamp = q, stamp
    return best


@inner_bare
def grant_switch(st: State, s: int, now_ps: int) -> bool:
    """Serve a switch's requests oldest first under all its limits."""
    switch = st.switch
    ring_facing = True
    while True:
        q = oldest_request(st, s, ring_facing, now_ps)
        if q < 0:
            return True
        size = wanted_bytes(st, st.link[q, c.WAIT_HEAD])
        is_inter = q >= 2 * st.ctl[c.RACKS]
        if is_inter and switch[s, c.INTER] + size > switch[s, c.S_INTER_LIMIT]:
            ring_facing = False
        elif switch[s, c.TOTAL] + size > switch[s, c.S_LIMIT]:
            return True
        elif st.ctl[c.SPARE] <= 0:
            return False
        else:
            grant(st, q, now_ps)


@inner_bare
def serve_grants(st: State, now_ps: int) -> bool:
    """Hand out room at every marked queue and switch; False when the packet pool is empty."""
    ctl, link = st.ctl, st.link
    while ctl[c.CURSOR] < ctl[c.N_GRANTS]:
        entry = st.granted[ctl[c.CURSOR]]
        is_switch = entry >= len(link)
        s = entry - len(link) if is_switch else link[entry, c.SWITCH]
        if is_switch or st.switch[s, c.EAGER] == 1:
            if not grant_switch(st, s, now_ps):
                return False
        elif not grant_queue(st, entry, now_ps):
            return False
        if is_switch:
            st.switch[s, c.S_MARKED] = 0
        else:
            link[entry, c.MARKED] = 0
        ctl[c.CURSOR] += 1
    ctl[c.CURSOR] = 0
    ctl[c.N_GRANTS] = 0
    return True
