"""Background that nobody looks at: bursts counted ahead, and links that glide.

A burst that finds room in its queue needs no event of its own: what it does to its queue follows
from when it came. So when a burst comes, the bursts behind it are *counted ahead*: their bytes are
part of the switch's ``LOAD`` from then on, and only the first one that is not counted has an event.
A queue never has more bursts counted ahead than fit into it, and a switch never more than its ample
load, so none of them could have had to wait. They are brought up to date, in a closed loop, when
somebody looks: when a chunk's packet wants room or joins the queue, or when the caller asks. Who
has to wait for room, or a switch whose buffer might run out, has all bursts come one by one.

Packets of the background leave the network behind their link. So a link between switches without a
chunk's packet *glides*: departures follow from arrivals there as they do on rack-facing links.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.packets import append, is_down, service_ps, settle, take_packet
from thzsync.optical.tournament import set_key


@hot
def flows_by_itself(st: State, q: int) -> bool:
    """Whether departures of a switch output follow from its arrivals, without events."""
    return bool(is_down(st, q) or st.link[q, c.STATE] == c.GLIDING)


@hot
def has_come(st: State, q: int, now_ps: int) -> bool:
    """Whether a burst that was counted ahead has come; within an instant, bursts follow links."""
    last_ps = now_ps - (st.ctl[c.STAGE] == c.LINKS)
    return bool(st.link[q, c.AHEAD] > 0 and st.burst[q, st.burst[q, c.BG_POS]] <= last_ps)


@hot
def take_in(st: State, q: int, came_ps: int, now_ps: int) -> None:
    """Put a burst that found room into its queue; its room at the switch is counted already."""
    ctl, link, pkt, switch = st.ctl, st.link, st.pkt, st.switch
    size, full = ctl[c.BURST], ctl[c.PACKET]
    ready = came_ps + ctl[c.DELAY]
    served = flows_by_itself(st, q)
    free_at = link[q, c.LAST_END]
    if link[q, c.HEAD] >= 0:
        free_at = pkt[link[q, c.TAIL], c.P_END]
    elif served:
        end = max(ready, free_at) + size // full * link[q, c.FULL]
        if size % full > 0:
            end += service_ps(st, q, size % full)
        if end <= now_ps:  # it has come and gone
            s = link[q, c.SWITCH]
            link[q, c.LAST_END] = end
            link[q, c.BG_CARRIED] += size
            ctl[c.HOPS] += ctl[c.BURST_PACKETS]
            ctl[c.SPARE] += ctl[c.BURST_PACKETS]
            switch[s, c.LOAD] -= size
            return
    s = link[q, c.SWITCH]
    link[q, c.OCC] += size
    switch[s, c.TOTAL] += size
    if q >= 2 * ctl[c.RACKS]:
        switch[s, c.INTER] += size
    while size > 0:
        p = take_packet(st)
        pkt[p, c.P_NODE] = -1
        pkt[p, c.P_BYTES] = min(size, full)
        pkt[p, c.P_LEFT] = -1
        pkt[p, c.P_HOP] = -1
        pkt[p, c.P_DOWN] = -1
        pkt[p, c.P_READY] = ready
        if served:
            free_at = max(ready, free_at) + service_ps(st, q, min(size, full))
            pkt[p, c.P_END] = free_at
        append(st, q, p)
        size -= full


@inner_bare
def catch_up(st: State, q: int, now_ps: int) -> None:
    """Take in the bursts counted ahead that have come."""
    while has_come(st, q, now_ps):
        came_ps = st.burst[q, st.burst[q, c.BG_POS]]
        st.burst[q, c.BG_POS] += 1
        st.link[q, c.AHEAD] -= 1
        take_in(st, q, came_ps, now_ps)
        if st.link[q, c.HEAD] >= 0 and flows_by_itself(st, q):
            settle(st, q, now_ps, False)


@hot
def look(st: State, q: int, now_ps: int) -> None:
    """Bring a switch output up to now: what has left has left, what has come is there."""
    if flows_by_itself(st, q):
        settle(st, q, now_ps, False)
    if has_come(st, q, now_ps):
        catch_up(st, q, now_ps)


@inner_bare
def give_back(st: State, q: int, keep: int) -> None:
    """Count fewer bursts of a queue ahead; those that have come must be in."""
    fewer = st.link[q, c.AHEAD] - keep
    st.link[q, c.AHEAD] = keep
    st.switch[st.link[q, c.SWITCH], c.LOAD] -= fewer * st.ctl[c.BURST]
    st.ctl[c.SPARE] += fewer * st.ctl[c.BURST_PACKETS]
    set_key(st.bg_key, st.bg_tree, q, st.burst[q, st.burst[q, c.BG_POS] + keep])


@hot
def count_ahead(st: State, q: int) -> None:
    """Count as many of a queue's next bursts ahead as surely find room."""
    ctl, link = st.ctl, st.link
    size, s = ctl[c.BURST], link[q, c.SWITCH]
    room = (st.switch[s, c.AMPLE] >> 2) * 3 - st.switch[s, c.LOAD]  # the rest is for chunks
    room = min(room, link[q, c.LIMIT] - link[q, c.OCC])
    many = min(c.MOST_AHEAD, ctl[c.SPARE] // (2 * ctl[c.BURST_PACKETS]))
    many = max(0, min(many, room // size, st.burst.shape[1] - st.burst[q, c.BG_POS] - 1))
    link[q, c.AHEAD] = many
    st.switch[s, c.LOAD] += many * size
    ctl[c.SPARE] -= many * ctl[c.BURST_PACKETS]


@hot
def glide(st: State, ln: int, now_ps: int) -> bool:
    """Let a resting link between switches go without events, if it may."""
    ctl, link, pkt = st.ctl, st.link, st.pkt
    if (
        link[ln, c.CHUNKS] > 0
        or link[ln, c.WAIT_HEAD] >= 0
        or link[ln, c.RATE] == 0
        or st.switch[link[ln, c.SWITCH], c.EAGER] == 1
        or ctl[c.ALONE] == 0
    ):
        return False
    link[ln, c.STATE] = c.GLIDING
    link[ln, c.LAST_END] = now_ps
    p, free_at = link[ln, c.HEAD], now_ps
    while p >= 0:
        free_at = max(pkt[p, c.P_READY], free_at) + service_ps(st, ln, pkt[p, c.P_BYTES])
        pkt[p, c.P_END] = free_at
        p = pkt[p, c.P_NEXT]
    if st.key[ln] != c.NEVER:
        set_key(st.key, st.tree, ln, c.NEVER)
    return True


@inner_bare
def stop_gliding(st: State, ln: int, now_ps: int) -> None:
    """Give a gliding link, which has been looked at, its events back."""
    link, pkt = st.link, st.pkt
    link[ln, c.STATE] = c.RESTING
    p = link[ln, c.HEAD]
    if p < 0:
        return
    began = max(pkt[p, c.P_READY], link[ln, c.LAST_END])
    if began <= now_ps:
        link[ln, c.STATE] = c.BUSY
        link[ln, c.BEGAN] = began
        set_key(st.key, st.tree, ln, pkt[p, c.P_END])
    else:
        set_key(st.key, st.tree, ln, began)
