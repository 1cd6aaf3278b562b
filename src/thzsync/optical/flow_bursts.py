"""Background in the flow fabric: the packet fabric's very bursts, as work that a link must do.

A link that no chunk uses is not simulated: its bursts are caught up with, in a closed loop, when
somebody looks. Where chunks queue, bursts stand in the same line.
"""

from __future__ import annotations

from math import ceil

from thzsync.jit import hot
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.background import one_gap_ps
from thzsync.optical.flow_layout import State
from thzsync.optical.lists import append, take
from thzsync.optical.racks import enqueue, occupy


@hot
def service_ps(st: State, ln: int, size_bytes: int) -> int:
    """Time of so many bytes on a link that is up [ps], rounded up."""
    time_ps: int = ceil(size_bytes * 8e12 / st.link[ln, c.RATE])
    return time_ps


@hot
def gap_ps(st: State, q: int, ahead: int) -> int:
    """Time between two bursts, so many after a link's last drawn one [ps]; see `one_gap_ps`."""
    return one_gap_ps(st.draws[q], st.link[q, f.BG_DRAWN] + ahead, st.gap_ps[q])


@hot
def fits(st: State, q: int, size: int) -> bool:
    """Whether a queue and its switch have room; an empty one takes a train of any size."""
    link, pool = st.link, st.pool
    if link[q, c.OCC] > 0 and link[q, c.OCC] + (size >> 1) > link[q, c.LIMIT]:
        return False
    k = link[q, c.POOL]
    inside = pool[pool[k, c.CHILD], c.USED] if pool[k, c.CHILD] >= 0 else 0
    if pool[k, c.USED] == inside:
        return True  # one train of a rank is always let in: it moves, since the ranks below do
    while k >= 0 and pool[k, c.USED] + size <= pool[k, c.ROOM]:
        k = pool[k, c.PARENT]
    if k >= 0:
        st.switch[link[q, c.SWITCH], f.TIGHT] = 1
    return bool(k < 0)


@hot
def ask(st: State, r: int, q: int) -> None:
    """Stand in line for room in queue q: link r, or the background of q as ``links + q``."""
    append(st.link, q, c.WAIT_HEAD, c.WAIT_TAIL, st.wait, r)


@hot
def background_train(st: State, size: int, ready_ps: int) -> int:
    """A train of background, which leaves the network behind its link."""
    pkt, p = st.pkt, take(st.ctl, st.pkt)
    pkt[p, c.P_NODE] = -1
    pkt[p, c.P_BYTES] = size
    pkt[p, c.P_LEFT] = -1
    pkt[p, c.P_HOP] = -1
    pkt[p, c.P_READY] = ready_ps
    pkt[p, c.P_END] = 0
    return p


@hot
def queue_background(st: State, q: int, size: int, now_ps: int) -> None:
    """Background joins a queue; it shares the item at the end if that is not in service."""
    link, pkt = st.link, st.pkt
    occupy(st, q, size)
    tail = link[q, c.TAIL]
    serving = link[q, c.STATE] == c.BUSY and link[q, c.HEAD] == tail
    if link[q, c.HEAD] >= 0 and pkt[tail, c.P_NODE] < 0 and not serving:
        pkt[tail, c.P_BYTES] += size
        return
    enqueue(st, q, background_train(st, size, now_ps))


@hot
def pass_bursts(st: State, q: int, now_ps: int) -> None:
    """Bursts of a link on which nobody else is follow each other (Lindley's recursion)."""
    link, burst = st.link, st.ctl[c.BURST]
    instant, free_at, bursts = link[q, f.BG_NEXT], link[q, f.FREE_AT], 0
    lasting = service_ps(st, q, burst)
    while instant <= now_ps:
        free_at = max(free_at, instant) + lasting
        instant += gap_ps(st, q, bursts)
        bursts += 1
    link[q, f.BG_NEXT] = instant
    link[q, f.FREE_AT] = free_at
    link[q, f.BG_DRAWN] += bursts
    link[q, c.BG_CARRIED] += bursts * burst


@hot
def catch_up(st: State, q: int, now_ps: int) -> None:
    """Bring the background of a switch output up to now."""
    link, burst = st.link, st.ctl[c.BURST]
    while link[q, f.BG_NEXT] <= now_ps:
        if link[q, c.RATE] > 0 and link[q, c.HEAD] < 0 and link[q, c.WAIT_HEAD] < 0:
            pass_bursts(st, q, now_ps)
            return
        link[q, f.BG_NEXT] += gap_ps(st, q, 0)
        link[q, f.BG_DRAWN] += 1
        if link[q, c.WAIT_HEAD] < 0 and fits(st, q, burst):
            queue_background(st, q, burst, now_ps)
        else:
            link[q, f.BG_OUTSIDE] += burst
            if link[q, f.BG_ASKED] == 0:
                link[q, f.BG_ASKED] = 1
                ask(st, len(link) + q, q)
