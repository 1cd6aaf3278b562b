"""The event loop of the flow fabric, and what its caller may do between two instants.

Order within an instant:

1. links whose train has left or whose first train may leave, by number;
2. nodes that are complete, and timers that are due;
3. racks with something new to send;
4. links that wait for room in a queue.
"""

from __future__ import annotations

from thzsync.arrays import NEVER_PS, BoolArray, FloatArray, IntArray
from thzsync.jit import bare, hot, inner_bare
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.flow_bursts import catch_up
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_links import attempt, finish, schedule
from thzsync.optical.flow_racks import admit, serve_kicks
from thzsync.optical.lists import remove
from thzsync.optical.racks import is_up, kick, leave_flow, leave_nic, next_hop, take_fresh
from thzsync.transfers import precedence as pre


@hot
def next_instant(st: State) -> int:
    """When something happens next [ps]."""
    time = st.key[st.tree[1]]
    if st.clock[pre.TIMERS] > 0:
        time = min(time, st.slots[0, pre.HEAP_AT])
    return int(time)


@hot
def serve_links(st: State, now_ps: int) -> None:
    """Links that have something to do now."""
    while st.key[st.tree[1]] <= now_ps:
        ln = st.tree[1]
        if st.link[ln, c.STATE] == c.BUSY:
            finish(st, ln, now_ps)
            if is_up(st, ln):
                admit(st, ln, now_ps)
        attempt(st, ln, now_ps)


@bare
def advance(st: State, until_ps: int) -> int:
    """Run to the first instant with a report, or to ``until_ps``.

    ``NEED_TRAINS`` asks the caller for more rows of trains; ``IDLE`` says that it got there.
    """
    clock = st.clock
    while True:
        if st.ctl[c.SPARE] < st.ctl[f.FLOOR]:
            return f.NEED_TRAINS
        now = clock[pre.NOW]
        serve_links(st, now)
        if pre.due(clock, st.slots, now):
            pre.serve(clock, st.task, st.edge, st.slots, now)
        if clock[pre.FRESH] > 0:
            take_fresh(st)
        if st.ctl[c.N_KICKS] > 0:
            serve_kicks(st, now)
        time = next_instant(st)
        if time <= now:
            continue
        if clock[pre.REPORTS] > 0:
            return f.IDLE
        if time > until_ps:
            clock[pre.NOW] = max(now, until_ps)
            return f.IDLE
        clock[pre.NOW] = time


@bare
def leave_fibre(st: State, nodes: IntArray, carrier: int, accepted: BoolArray) -> None:
    """Nodes of which nothing has begun to leave the rack change to a carrier."""
    take_fresh(st)
    for k in range(len(nodes)):
        n = nodes[k]
        accepted[k] = pre.leave_fibre(st.clock, st.task, st.slots, n, carrier)
        if not accepted[k] or st.task[n, pre.READY_AT] < 0:
            continue
        up = st.node[n, c.UP]
        if st.node[n, c.SENT] > 0:
            waiting = st.link[up, c.STATE] == c.WAITING
            if waiting and st.pkt[st.link[up, c.HEAD], c.P_NODE] == n:
                withdraw(st, up)
            st.link[up, f.QUEUED] -= leave_nic(st, n)
        leave_flow(st, n)


@inner_bare
def withdraw(st: State, ln: int) -> None:
    """Take back a link's request for room."""
    q = st.pkt[st.link[ln, c.HEAD], c.P_HOP]
    remove(st.link, q, c.WAIT_HEAD, c.WAIT_TAIL, st.wait, ln)
    st.link[ln, c.STATE] = c.RESTING
    kick(st, q)


@bare
def set_rate(st: State, ln: int, rate_bps: int) -> None:
    """Trains that start from now on take the new rate; with rate 0 none starts."""
    take_fresh(st)  # racks with something new are served before this link
    link, now = st.link, st.clock[pre.NOW]
    if not is_up(st, ln):
        catch_up(st, ln, now)
    link[ln, c.RATE] = rate_bps
    if rate_bps == 0 and link[ln, c.STATE] == c.WAITING:
        withdraw(st, ln)
    if link[ln, c.STATE] == c.RESTING:
        schedule(st, ln, NEVER_PS)
        kick(st, ln)


@bare
def carried(st: State, foreground: IntArray, background: IntArray) -> None:
    """Bytes that every link has carried up to now; of a train in service, the part that has left.

    Background that a link has counted ahead of time (``FREE_AT``) is taken off again.
    """
    link, now = st.link, st.clock[pre.NOW]
    for ln in range(len(link)):
        if link[ln, f.BG_NEXT] <= now:
            catch_up(st, ln, now)
        own, other = link[ln, c.CARRIED], link[ln, c.BG_CARRIED]
        if link[ln, c.STATE] == c.BUSY:
            p = link[ln, c.HEAD]
            share = (now - link[ln, c.BEGAN]) / (link[ln, f.ENDS] - link[ln, c.BEGAN])
            sent = int(st.pkt[p, c.P_BYTES] * share)
            if st.pkt[p, c.P_NODE] >= 0:
                own += sent
            else:
                other += sent
        elif link[ln, f.FREE_AT] > now:
            ahead = (link[ln, f.FREE_AT] - now) * 1e-12 * link[ln, c.RATE] / 8
            other = max(0, other - int(ahead))
        foreground[ln] = own
        background[ln] = other


@bare
def occupancy(
    st: State, first: IntArray, rack: IntArray, chosen: IntArray, queued_bytes: IntArray,
    fraction: FloatArray,
) -> None:  # fmt: skip
    """Queued bytes along wired paths, and the fullest shared buffer on each (Q and U).

    A path is given by its first link, the rack at its end and the hash that picks among equals.
    """
    link, pool = st.link, st.pool
    for k in range(len(first)):
        ln, full = first[k], 0.0
        queued = link[ln, c.OCC]
        ln = next_hop(st, ln, rack[k], chosen[k])
        while ln >= 0:
            s = link[ln, c.SWITCH]
            full = max(full, pool[s, c.USED] / pool[s, c.ROOM])
            queued += queued_at(st, ln)
            ln = next_hop(st, ln, rack[k], chosen[k])
        queued_bytes[k] = queued
        fraction[k] = min(full, 1.0)


@hot
def queued_at(st: State, q: int) -> int:
    """Bytes that wait at a switch output, background that has no train of its own included."""
    link, now = st.link, st.clock[pre.NOW]
    catch_up(st, q, now)
    ahead = 0
    if link[q, c.STATE] != c.BUSY and link[q, f.FREE_AT] > now:
        ahead = int((link[q, f.FREE_AT] - now) * 1e-12 * link[q, c.RATE] / 8)
    return int(link[q, c.OCC] + ahead)
