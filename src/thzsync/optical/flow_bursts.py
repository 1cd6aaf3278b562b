"""Background in the flow fabric: the packet fabric's very bursts, as work that a link must do.

A link that no chunk uses is not simulated: its bursts are caught up with, in a closed loop, when
somebody looks. Where chunks queue, bursts stand in the same line.
"""

from __future__ import annotations

from math import ceil

from thzsync.jit import hot
from thzsync.optical import flow_layout as f
from thzsync.optical.background import one_gap_ps
from thzsync.optical.flow_layout import State


@hot
def service_ps(st: State, ln: int, size_bytes: int) -> int:
    """Time of so many bytes on a link that is up [ps], rounded up."""
    time_ps: int = ceil(size_bytes * 8e12 / st.link[ln, f.RATE])
    return time_ps


@hot
def gap_ps(st: State, q: int, ahead: int) -> int:
    """Time between two bursts, so many after a link's last drawn one [ps]; see `one_gap_ps`."""
    return one_gap_ps(st.draws[q], st.link[q, f.BG_DRAWN] + ahead, st.gap_ps[q])


@hot
def take_train(st: State) -> int:
    """A free train row; the caller of the kernel has seen to it that there is one."""
    p = st.ctl[f.FREE]
    st.ctl[f.FREE] = st.train[p, f.T_NEXT]
    st.ctl[f.SPARE] -= 1
    return int(p)


@hot
def free_train(st: State, p: int) -> None:
    """Give a train row back."""
    st.train[p, f.T_NEXT] = st.ctl[f.FREE]
    st.ctl[f.FREE] = p
    st.ctl[f.SPARE] += 1


@hot
def append(st: State, ln: int, p: int) -> None:
    """Put a train at the end of a link's queue."""
    st.train[p, f.T_NEXT] = -1
    if st.link[ln, f.HEAD] < 0:
        st.link[ln, f.HEAD] = p
    else:
        st.train[st.link[ln, f.TAIL], f.T_NEXT] = p
    st.link[ln, f.TAIL] = p


@hot
def reserve(st: State, q: int, size: int) -> None:
    """Take room in a switch's queue and shared buffer; a negative size gives it back."""
    s = st.link[q, f.SWITCH]
    st.link[q, f.OCC] += size
    st.switch[s, f.TOTAL] += size
    if q >= 2 * st.ctl[f.RACKS]:
        st.switch[s, f.INTER] += size


@hot
def fits(st: State, q: int, size: int) -> bool:
    """Whether a queue and its switch have room; an empty one takes a train of any size."""
    link, switch = st.link, st.switch
    if link[q, f.OCC] > 0 and link[q, f.OCC] + (size >> 1) > link[q, f.LIMIT]:
        return False
    s = link[q, f.SWITCH]
    inter, total = switch[s, f.INTER], switch[s, f.TOTAL]
    if q >= 2 * st.ctl[f.RACKS]:
        room = inter == 0 or (
            inter + size <= switch[s, f.S_INTER_LIMIT] and total + size <= switch[s, f.S_LIMIT]
        )
    else:
        # rack-facing trains need no further room, so letting one in when there is none is safe
        room = total == inter or total + size <= switch[s, f.S_LIMIT]
    if not room:
        switch[s, f.TIGHT] = 1
    return bool(room)


@hot
def ask(st: State, r: int, q: int) -> None:
    """Stand in line for room in queue q: link r, or the background of q as ``links + q``."""
    link = st.link
    st.wait[r] = -1
    if link[q, f.WAIT_HEAD] < 0:
        link[q, f.WAIT_HEAD] = r
    else:
        st.wait[link[q, f.WAIT_TAIL]] = r
    link[q, f.WAIT_TAIL] = r


@hot
def background_train(st: State, size: int, ready_ps: int) -> int:
    """A train of background, which leaves the network behind its link."""
    train, p = st.train, take_train(st)
    train[p, f.T_NODE] = -1
    train[p, f.T_BYTES] = size
    train[p, f.T_LAST] = 0
    train[p, f.T_HOP] = -1
    train[p, f.T_READY] = ready_ps
    train[p, f.T_LEAST_END] = 0
    return p


@hot
def queue_background(st: State, q: int, size: int, now_ps: int) -> None:
    """Background joins a queue; it shares the item at the end if that is not in service."""
    link, train = st.link, st.train
    reserve(st, q, size)
    tail = link[q, f.TAIL]
    serving = link[q, f.STATE] == f.BUSY and link[q, f.HEAD] == tail
    if link[q, f.HEAD] >= 0 and train[tail, f.T_NODE] < 0 and not serving:
        train[tail, f.T_BYTES] += size
        return
    append(st, q, background_train(st, size, now_ps))


@hot
def pass_bursts(st: State, q: int, now_ps: int) -> None:
    """Bursts of a link on which nobody else is follow each other (Lindley's recursion)."""
    link, burst = st.link, st.ctl[f.BURST]
    instant, free_at, bursts = link[q, f.BG_NEXT], link[q, f.FREE_AT], 0
    lasting = service_ps(st, q, burst)
    while instant <= now_ps:
        free_at = max(free_at, instant) + lasting
        instant += gap_ps(st, q, bursts)
        bursts += 1
    link[q, f.BG_NEXT] = instant
    link[q, f.FREE_AT] = free_at
    link[q, f.BG_DRAWN] += bursts
    link[q, f.BG_CARRIED] += bursts * burst


@hot
def catch_up(st: State, q: int, now_ps: int) -> None:
    """Bring the background of a switch output up to now."""
    link, burst = st.link, st.ctl[f.BURST]
    while link[q, f.BG_NEXT] <= now_ps:
        if link[q, f.RATE] > 0 and link[q, f.HEAD] < 0 and link[q, f.WAIT_HEAD] < 0:
            pass_bursts(st, q, now_ps)
            return
        link[q, f.BG_NEXT] += gap_ps(st, q, 0)
        link[q, f.BG_DRAWN] += 1
        if link[q, f.WAIT_HEAD] < 0 and fits(st, q, burst):
            queue_background(st, q, burst, now_ps)
        else:
            link[q, f.BG_OUTSIDE] += burst
            if link[q, f.BG_ASKED] == 0:
                link[q, f.BG_ASKED] = 1
                ask(st, len(link) + q, q)
