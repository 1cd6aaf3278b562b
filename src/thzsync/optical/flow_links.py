"""Trains on links: who may start, when the next link may begin, and who gets room.

A train is sent without a break. The next link may begin as soon as it has the first packet and will
not run dry: a chunk alone takes as long as its packets would, to the picosecond where all packets
are full. Room is taken when a train starts and given back when its last bit has left. Who waits for
room is served in the order of asking, after all links of an instant: one whose train has just left
asks before room is handed out. Background asks for and gives back no more than a train at a time.
"""

from __future__ import annotations

from thzsync.arrays import NEVER_PS
from thzsync.jit import hot, inner_bare
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.flow_bursts import (
    ask,
    background_train,
    catch_up,
    fits,
    queue_background,
    service_ps,
)
from thzsync.optical.flow_layout import State
from thzsync.optical.lists import give, take
from thzsync.optical.racks import enqueue, is_down, is_up, kick, node_hop, occupy
from thzsync.optical.tournament import set_key
from thzsync.transfers.precedence import START_AT, push_done


@hot
def schedule(st: State, ln: int, time_ps: int) -> None:
    """When a link is looked at next [ps]."""
    if st.key[ln] != time_ps:
        set_key(st.key, st.tree, ln, time_ps)


@hot
def announce(st: State, ln: int, p: int, q: int, now_ps: int) -> None:
    """A train that link ln begins to send takes its place in queue q."""
    link, pkt, packet = st.link, st.pkt, st.ctl[c.PACKET]
    size = pkt[p, c.P_BYTES]
    occupy(st, q, size)
    link[q, f.QUANTUM] = size
    r = take(st.ctl, pkt)
    pkt[r, c.P_NODE] = pkt[p, c.P_NODE]
    pkt[r, c.P_BYTES] = size
    pkt[r, c.P_LEFT] = pkt[p, c.P_LEFT]
    pkt[r, c.P_HOP] = node_hop(st, q, pkt[p, c.P_NODE])
    delay = link[q, c.LATENCY]
    ready = now_ps + service_ps(st, ln, min(size, packet)) + delay
    least_end = link[ln, f.ENDS] + delay
    if link[q, c.RATE] > 0:
        least_end += service_ps(st, q, (size - 1) % packet + 1)
        ready = max(ready, least_end - service_ps(st, q, size))
    pkt[r, c.P_READY] = ready
    pkt[r, c.P_END] = least_end
    was_empty = link[q, c.HEAD] < 0
    enqueue(st, q, r)
    if was_empty and link[q, c.STATE] == c.RESTING and link[q, c.RATE] > 0:
        schedule(st, q, max(ready, link[q, f.FREE_AT]))


@hot
def turn_bytes(st: State, q: int) -> int:
    """What background sends or brings into a queue at a time: no more than a train."""
    return int(max(st.link[q, f.QUANTUM], st.ctl[c.PACKET]))


@hot
def cut(st: State, ln: int, p: int) -> None:
    """Send a long piece of background in turns, its rest behind it.

    If all its room came back at once, links would take it for a train each, background the rest.
    """
    pkt, size = st.pkt, turn_bytes(st, ln)
    if pkt[p, c.P_BYTES] <= size:
        return
    rest = background_train(st, pkt[p, c.P_BYTES] - size, pkt[p, c.P_READY])
    pkt[rest, c.P_NEXT] = pkt[p, c.P_NEXT]
    pkt[p, c.P_BYTES] = size
    pkt[p, c.P_NEXT] = rest
    if st.link[ln, c.TAIL] == p:
        st.link[ln, c.TAIL] = rest


@hot
def start(st: State, ln: int, q: int, now_ps: int) -> None:
    """Begin to send a link's first train towards queue q (-1: out of the network)."""
    link, pkt = st.link, st.pkt
    p = link[ln, c.HEAD]
    n = pkt[p, c.P_NODE]
    if n < 0:
        cut(st, ln, p)
    size = pkt[p, c.P_BYTES]
    end = max(now_ps + service_ps(st, ln, size), pkt[p, c.P_END])
    link[ln, c.STATE] = c.BUSY
    link[ln, c.BEGAN] = now_ps
    link[ln, f.ENDS] = end
    schedule(st, ln, end)
    st.ctl[f.STARTED] += 1
    if is_up(st, ln) and st.task[n, START_AT] < 0:
        st.task[n, START_AT] = now_ps
    if q >= 0:
        announce(st, ln, p, q, now_ps)
    elif n >= 0:
        st.node[n, f.LANDING] = now_ps


@hot
def attempt(st: State, ln: int, now_ps: int) -> None:
    """An idle link tries to send its first train, or stands in line for room."""
    link = st.link
    p = link[ln, c.HEAD]
    if p < 0 or link[ln, c.RATE] == 0:
        schedule(st, ln, NEVER_PS)
        return
    time = max(st.pkt[p, c.P_READY], link[ln, f.FREE_AT])
    if time > now_ps:
        schedule(st, ln, time)
        return
    q = st.pkt[p, c.P_HOP]
    if q < 0:
        start(st, ln, q, now_ps)
        return
    catch_up(st, q, now_ps)
    size = st.pkt[p, c.P_BYTES]
    if link[q, c.WAIT_HEAD] < 0 and fits(st, q, size):
        start(st, ln, q, now_ps)
        return
    link[q, f.QUANTUM] = size
    link[ln, c.STATE] = c.WAITING
    schedule(st, ln, NEVER_PS)
    ask(st, ln, q)


@hot
def wanted_bytes(st: State, r: int, q: int) -> int:
    """Bytes for which the first in line wants room; background takes no more than a train."""
    if r < len(st.link):
        return int(st.pkt[st.link[r, c.HEAD], c.P_BYTES])
    return int(min(st.link[q, f.BG_OUTSIDE], turn_bytes(st, q)))


@hot
def grant(st: State, q: int, now_ps: int) -> None:
    """Let those in who wait for room in a queue, in order, while they fit."""
    link = st.link
    catch_up(st, q, now_ps)
    while link[q, c.WAIT_HEAD] >= 0:
        r = link[q, c.WAIT_HEAD]
        size = wanted_bytes(st, r, q)
        if not fits(st, q, size):
            return
        link[q, c.WAIT_HEAD] = st.wait[r]
        if r < len(link):
            start(st, r, q, now_ps)
            continue
        link[q, f.BG_OUTSIDE] -= size
        link[q, f.BG_ASKED] = 0
        queue_background(st, q, size, now_ps)
        if link[q, c.STATE] == c.RESTING and link[q, c.RATE] > 0:
            schedule(st, q, max(now_ps, link[q, f.FREE_AT]))
        if link[q, f.BG_OUTSIDE] > 0:
            link[q, f.BG_ASKED] = 1
            ask(st, r, q)


@inner_bare
def kick_switch(st: State, s: int) -> None:
    """The shared buffer was short and has more room: all who wait at a switch are looked at."""
    st.switch[s, f.TIGHT] = 0
    for o in range(st.switch[s, c.OUT_LO], st.switch[s, c.OUT_HI]):
        if st.link[st.outputs[o], c.WAIT_HEAD] >= 0:
            kick(st, st.outputs[o])


@hot
def finish(st: State, ln: int, now_ps: int) -> None:
    """The last bit of a link's train has left."""
    link, pkt = st.link, st.pkt
    p = link[ln, c.HEAD]
    n, size = pkt[p, c.P_NODE], pkt[p, c.P_BYTES]
    link[ln, c.HEAD] = pkt[p, c.P_NEXT]
    link[ln, c.STATE] = c.RESTING
    link[ln, c.CARRIED if n >= 0 else c.BG_CARRIED] += size
    link[ln, f.FREE_AT] = now_ps
    if n >= 0 and pkt[p, c.P_LEFT] == 0 and is_down(st, ln):
        push_done(st.clock, st.slots, n)
    give(st.ctl, pkt, p)
    if is_up(st, ln):
        link[ln, c.OCC] -= size
        link[ln, f.QUEUED] -= 1
        return
    occupy(st, ln, -size)
    catch_up(st, ln, now_ps)
    if link[ln, c.WAIT_HEAD] >= 0:
        kick(st, ln)
    s = link[ln, c.SWITCH]
    if st.switch[s, f.TIGHT] == 1:
        kick_switch(st, s)
