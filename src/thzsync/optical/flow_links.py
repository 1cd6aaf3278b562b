"""Trains on links: who may start, when the next link may begin, and who gets room.

A train is sent without a break. The next link may begin as soon as it has the first packet and will
not run dry: a chunk alone takes as long as its packets would, to the picosecond where all packets
are full. Room is taken when a train starts and given back when its last bit has left. Who waits for
room is served in the order of asking, after all links of an instant: one whose train has just left
asks before room is handed out. Background asks for and gives back no more than a train at a time.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import flow_layout as f
from thzsync.optical.flow_bursts import (
    append,
    ask,
    background_train,
    catch_up,
    fits,
    free_train,
    queue_background,
    reserve,
    service_ps,
    take_train,
)
from thzsync.optical.flow_layout import State
from thzsync.optical.tournament import set_key
from thzsync.transfers.precedence import START_AT, push_done


@hot
def schedule(st: State, ln: int, time_ps: int) -> None:
    """When a link is looked at next [ps]."""
    if st.key[ln] != time_ps:
        set_key(st.key, st.tree, ln, time_ps)


@hot
def kick(st: State, ln: int) -> None:
    """Remember that a link may have something to send, or room in its queue."""
    if st.link[ln, f.KICKED] == 0:
        st.link[ln, f.KICKED] = 1
        st.kicked[st.ctl[f.N_KICKS]] = ln
        st.ctl[f.N_KICKS] += 1


@hot
def is_down(st: State, ln: int) -> bool:
    """Whether a link leads from a switch to a rack."""
    return bool(st.ctl[f.RACKS] <= ln < 2 * st.ctl[f.RACKS])


@hot
def announce(st: State, ln: int, p: int, q: int, now_ps: int) -> None:
    """A train that link ln begins to send takes its place in queue q."""
    link, train, packet = st.link, st.train, st.ctl[f.PACKET]
    n, size = train[p, f.T_NODE], train[p, f.T_BYTES]
    reserve(st, q, size)
    link[q, f.QUANTUM] = size
    r = take_train(st)
    train[r, f.T_NODE] = n
    train[r, f.T_BYTES] = size
    train[r, f.T_LAST] = train[p, f.T_LAST]
    train[r, f.T_HOP] = -1 if is_down(st, q) else st.node[n, f.DOWN]
    delay = st.ctl[f.DELAY]
    ready = now_ps + service_ps(st, ln, min(size, packet)) + delay
    least_end = link[ln, f.ENDS] + delay
    if link[q, f.RATE] > 0:
        least_end += service_ps(st, q, (size - 1) % packet + 1)
        ready = max(ready, least_end - service_ps(st, q, size))
    train[r, f.T_READY] = ready
    train[r, f.T_LEAST_END] = least_end
    was_empty = link[q, f.HEAD] < 0
    append(st, q, r)
    if was_empty and link[q, f.STATE] == f.RESTING and link[q, f.RATE] > 0:
        schedule(st, q, max(ready, link[q, f.FREE_AT]))


@hot
def turn_bytes(st: State, q: int) -> int:
    """What background sends or brings into a queue at a time: no more than a train."""
    return int(max(st.link[q, f.QUANTUM], st.ctl[f.PACKET]))


@hot
def cut(st: State, ln: int, p: int) -> None:
    """Send a long piece of background in turns, its rest behind it.

    If all its room came back at once, links would take it for a train each, background the rest.
    """
    train, size = st.train, turn_bytes(st, ln)
    if train[p, f.T_BYTES] <= size:
        return
    rest = background_train(st, train[p, f.T_BYTES] - size, train[p, f.T_READY])
    train[rest, f.T_NEXT] = train[p, f.T_NEXT]
    train[p, f.T_BYTES] = size
    train[p, f.T_NEXT] = rest
    if st.link[ln, f.TAIL] == p:
        st.link[ln, f.TAIL] = rest


@hot
def start(st: State, ln: int, q: int, now_ps: int) -> None:
    """Begin to send a link's first train towards queue q (-1: out of the network)."""
    link, train = st.link, st.train
    p = link[ln, f.HEAD]
    n = train[p, f.T_NODE]
    if n < 0:
        cut(st, ln, p)
    size = train[p, f.T_BYTES]
    end = max(now_ps + service_ps(st, ln, size), train[p, f.T_LEAST_END])
    link[ln, f.STATE] = f.BUSY
    link[ln, f.BEGAN] = now_ps
    link[ln, f.ENDS] = end
    schedule(st, ln, end)
    st.ctl[f.STARTED] += 1
    if ln < st.ctl[f.RACKS] and st.task[n, START_AT] < 0:
        st.task[n, START_AT] = now_ps
    if q >= 0:
        announce(st, ln, p, q, now_ps)
    elif n >= 0:
        st.node[n, f.LANDING] = now_ps


@hot
def attempt(st: State, ln: int, now_ps: int) -> None:
    """An idle link tries to send its first train, or stands in line for room."""
    link = st.link
    p = link[ln, f.HEAD]
    if p < 0 or link[ln, f.RATE] == 0:
        schedule(st, ln, f.NEVER)
        return
    time = max(st.train[p, f.T_READY], link[ln, f.FREE_AT])
    if time > now_ps:
        schedule(st, ln, time)
        return
    q = st.train[p, f.T_HOP]
    if q < 0:
        start(st, ln, q, now_ps)
        return
    catch_up(st, q, now_ps)
    size = st.train[p, f.T_BYTES]
    if link[q, f.WAIT_HEAD] < 0 and fits(st, q, size):
        start(st, ln, q, now_ps)
        return
    link[q, f.QUANTUM] = size
    link[ln, f.STATE] = f.WAITING
    schedule(st, ln, f.NEVER)
    ask(st, ln, q)


@hot
def wanted_bytes(st: State, r: int, q: int) -> int:
    """Bytes for which the first in line wants room; background takes no more than a train."""
    if r < len(st.link):
        return int(st.train[st.link[r, f.HEAD], f.T_BYTES])
    return int(min(st.link[q, f.BG_OUTSIDE], turn_bytes(st, q)))


@hot
def grant(st: State, q: int, now_ps: int) -> None:
    """Let those in who wait for room in a queue, in order, while they fit."""
    link = st.link
    catch_up(st, q, now_ps)
    while link[q, f.WAIT_HEAD] >= 0:
        r = link[q, f.WAIT_HEAD]
        size = wanted_bytes(st, r, q)
        if not fits(st, q, size):
            return
        link[q, f.WAIT_HEAD] = st.wait[r]
        if r < len(link):
            start(st, r, q, now_ps)
            continue
        link[q, f.BG_OUTSIDE] -= size
        link[q, f.BG_ASKED] = 0
        queue_background(st, q, size, now_ps)
        if link[q, f.STATE] == f.RESTING and link[q, f.RATE] > 0:
            schedule(st, q, max(now_ps, link[q, f.FREE_AT]))
        if link[q, f.BG_OUTSIDE] > 0:
            link[q, f.BG_ASKED] = 1
            ask(st, r, q)


@inner_bare
def kick_switch(st: State, s: int) -> None:
    """The shared buffer was short and has more room: all who wait at a switch are looked at."""
    st.switch[s, f.TIGHT] = 0
    for o in range(st.switch[s, f.OUT_LO], st.switch[s, f.OUT_HI]):
        if st.link[st.outputs[o], f.WAIT_HEAD] >= 0:
            kick(st, st.outputs[o])


@hot
def finish(st: State, ln: int, now_ps: int) -> None:
    """The last bit of a link's train has left."""
    link, train = st.link, st.train
    p = link[ln, f.HEAD]
    n, size = train[p, f.T_NODE], train[p, f.T_BYTES]
    link[ln, f.HEAD] = train[p, f.T_NEXT]
    link[ln, f.STATE] = f.RESTING
    link[ln, f.CARRIED if n >= 0 else f.BG_CARRIED] += size
    link[ln, f.FREE_AT] = now_ps
    if n >= 0 and train[p, f.T_LAST] == 1 and is_down(st, ln):
        push_done(st.clock, st.slots, n)
    free_train(st, p)
    if ln < st.ctl[f.RACKS]:
        link[ln, f.OCC] -= size
        link[ln, f.QUEUED] -= 1
        return
    reserve(st, ln, -size)
    catch_up(st, ln, now_ps)
    if link[ln, f.WAIT_HEAD] >= 0:
        kick(st, ln)
    s = link[ln, f.SWITCH]
    if st.switch[s, f.TIGHT] == 1:
        kick_switch(st, s)
