"""Who gets room at a switch, and when.

The queues of a switch have ranks: a packet moves only to queues of lower ranks, rack-facing ones
have rank 0 (network/routing.py). The shared buffer is made of nested pools, one per rank: queues
of the lowest rank may use all of it, those of the next rank what the reserve leaves, and so on. A
request needs room in its queue, in its pool and in every pool around it. Requests are considered
oldest first; a younger one passes an older one only if it does not need what the older one lacks.
So nobody starves, and nobody waits behind somebody who waits for something else.

Why the fabric cannot deadlock while its links are up: by induction over ranks, every queue moves.

1. A packet in a rack-facing queue needs no further room: it leaves after the packets before it.
2. Suppose that all queues of ranks below r move, and take a queue of rank r at switch s. Its head
   wants room in a queue of a rank below r at another switch t. Queues of t with a rank below r move
   by assumption, so room appears in that queue, and requests for one queue are served in order.
3. While the oldest request at t whose queue has room lacks room in a pool, nobody is let into this
   pool or into those inside it. If it lacks room in its own pool, what is held there is of its rank
   or above. If it lacks room in a pool around it, nobody of lower ranks is let in either, so what
   those hold falls to 0; then it fits, since a pool is at least a packet smaller than the one
   around it. What its own rank holds moves by assumption (its rank is below r), and what higher
   ranks hold is limited to their own pool, which is at least a packet smaller again.
4. The head of a NIC queue waits like that of a queue of the highest rank, so it moves too.
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
def oldest_request(st: State, s: int, below: int, now_ps: int) -> int:
    """The queue of switch s whose first request is oldest among those with room; -1 if none.

    Only queues whose pools are less deep than ``below`` count.
    """
    best, best_stamp = -1, NEVER_PS
    for o in range(st.switch[s, c.OUT_LO], st.switch[s, c.OUT_HI]):
        q = st.outputs[o]
        r = st.link[q, c.WAIT_HEAD]
        if r < 0 or st.pool[st.link[q, c.POOL], c.DEPTH] >= below:
            continue
        stamp = st.stamp[r]
        if stamp < best_stamp and fits_queue(st, q, now_ps):
            best, best_stamp = q, stamp
    return best


@hot
def short_pool(st: State, q: int, size: int) -> int:
    """The innermost pool that has no room for a packet to a queue; -1 if all have."""
    pool = st.pool
    k = st.link[q, c.POOL]
    while k >= 0 and pool[k, c.USED] + size <= pool[k, c.ROOM]:
        k = pool[k, c.PARENT]
    return int(k)


@inner_bare
def grant_switch(st: State, s: int, now_ps: int) -> bool:
    """Serve a switch's requests oldest first under all its limits."""
    below = len(st.pool)
    while below > 0:
        q = oldest_request(st, s, below, now_ps)
        if q < 0:
            return True
        lacking = short_pool(st, q, wanted_bytes(st, st.link[q, c.WAIT_HEAD]))
        if lacking >= 0:
            below = st.pool[lacking, c.DEPTH]
        elif st.ctl[c.SPARE] <= 0:
            return False
        else:
            grant(st, q, now_ps)
    return True


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
