"""What the caller may do between two instants: take chunks away, change rates, look."""

from __future__ import annotations

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.jit import bare, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.ahead import give_back, look, stop_gliding
from thzsync.optical.layout import State
from thzsync.optical.nic import free_ticket, push_ticket
from thzsync.optical.nodes import kick, take_fresh
from thzsync.optical.packets import is_down, mark, service_ps, settle
from thzsync.optical.queues import head_hop, rekey
from thzsync.optical.tournament import set_key
from thzsync.transfers import precedence as pre


@bare
def withdraw(st: State, ln: int, q: int) -> None:
    """A link gives up its request for room in queue q."""
    link, wait = st.link, st.wait
    before, r = -1, link[q, c.WAIT_HEAD]
    while r != ln:
        before, r = r, wait[r, c.W_NEXT]
    after = wait[ln, c.W_NEXT]
    if before >= 0:
        wait[before, c.W_NEXT] = after
    else:
        link[q, c.WAIT_HEAD] = after
    if after < 0:
        link[q, c.WAIT_TAIL] = before
    st.switch[link[q, c.SWITCH], c.WAITERS] -= 1
    link[ln, c.STATE] = c.RESTING
    if link[q, c.WAIT_HEAD] >= 0:
        mark(st, q)


@inner_bare
def leave_nic(st: State, n: int) -> None:
    """Take a chunk's packets, none of them in service, out of its rack's NIC queue."""
    link, ticket = st.link, st.ticket
    rack = st.node[n, c.SRC]
    link[rack, c.OCC] -= st.node[n, c.SENT]
    if link[rack, c.STATE] == c.WAITING and ticket[link[rack, c.HEAD], c.K_NODE] == n:
        withdraw(st, rack, st.node[n, c.FIRST])
    k = int(link[rack, c.HEAD])
    link[rack, c.HEAD] = -1
    while k >= 0:
        following = int(ticket[k, c.K_NEXT])
        if ticket[k, c.K_NODE] == n:
            free_ticket(st, k)
        else:
            push_ticket(st, rack, k)
        k = following
    kick(st, rack)


@inner_bare
def leave_flow(st: State, n: int) -> None:
    """Take a chunk out of its flow, and an emptied flow out of its rack's ring."""
    node, flow, link = st.node, st.flow, st.link
    f, rack = node[n, c.FLOW], node[n, c.SRC]
    before, m = -1, flow[f, c.F_HEAD]
    while m >= 0 and m != n:
        before, m = m, node[m, c.N_NEXT]
    if m < 0:
        return
    if before >= 0:
        node[before, c.N_NEXT] = node[n, c.N_NEXT]
    else:
        flow[f, c.F_HEAD] = node[n, c.N_NEXT]
    if flow[f, c.F_TAIL] == n:
        flow[f, c.F_TAIL] = before
    if flow[f, c.F_HEAD] >= 0:
        return
    flow[f, c.F_ACTIVE] = 0
    before, g = -1, link[rack, c.RING_HEAD]
    while g != f:
        before, g = g, flow[g, c.F_NEXT]
    if before >= 0:
        flow[before, c.F_NEXT] = flow[f, c.F_NEXT]
    else:
        link[rack, c.RING_HEAD] = flow[f, c.F_NEXT]
    if link[rack, c.RING_TAIL] == f:
        link[rack, c.RING_TAIL] = before


@bare
def to_air(st: State, nodes: IntArray, accepted: BoolArray) -> None:
    """Chunks of which no packet has begun to leave the rack change to the air."""
    take_fresh(st)
    for k in range(len(nodes)):
        n = nodes[k]
        accepted[k] = False
        if not pre.exists(st.task, n):
            continue
        task = st.task[n]
        if task[pre.OWNER] != pre.FIBRE or task[pre.START_AT] >= 0:
            continue
        accepted[k] = True
        task[pre.OWNER] = pre.AIR
        if task[pre.READY_AT] >= 0:
            if st.node[n, c.SENT] > 0:
                leave_nic(st, n)
            leave_flow(st, n)
            st.node[n, c.SENT] = 0
            pre.report(st.clock, st.slots, n, pre.READY)


@inner_bare
def reschedule_down(st: State, ln: int) -> None:
    """Work out a rack-facing link's departures anew; a packet in service keeps its end."""
    link, pkt = st.link, st.pkt
    now = st.clock[pre.NOW]
    settle(st, ln, now, False)
    p = link[ln, c.HEAD]
    if (
        p >= 0
        and pkt[p, c.P_END] != c.NEVER
        and max(pkt[p, c.P_READY], link[ln, c.LAST_END]) <= now
    ):
        free_at = pkt[p, c.P_END]
        p = pkt[p, c.P_NEXT]
    else:
        free_at = max(link[ln, c.LAST_END], now)
        link[ln, c.LAST_END] = free_at
    while p >= 0:
        pkt[p, c.P_END] = c.NEVER
        if link[ln, c.RATE] > 0:
            free_at = max(free_at, pkt[p, c.P_READY]) + service_ps(st, ln, pkt[p, c.P_BYTES])
            pkt[p, c.P_END] = free_at
        p = pkt[p, c.P_NEXT]
    rekey(st, ln)


@bare
def set_rate(st: State, ln: int, rate_bps: int) -> None:
    """Packets that start from now on take the new rate; with rate 0 none starts."""
    take_fresh(st)  # racks with something new are served before this link
    link = st.link
    if ln >= st.ctl[c.RACKS]:
        look(st, ln, st.clock[pre.NOW])
        if link[ln, c.AHEAD] > 0:
            give_back(st, ln, 0)
        if link[ln, c.STATE] == c.GLIDING:
            stop_gliding(st, ln, st.clock[pre.NOW])
    link[ln, c.RATE] = rate_bps
    link[ln, c.FULL] = 0
    if rate_bps > 0:
        link[ln, c.FULL] = (st.ctl[c.PACKET] * 8_000_000_000_000 + rate_bps - 1) // rate_bps
    if is_down(st, ln):
        reschedule_down(st, ln)
        return
    if rate_bps == 0 and link[ln, c.STATE] == c.WAITING:
        withdraw(st, ln, head_hop(st, ln))
    if rate_bps == 0 and link[ln, c.STATE] == c.RESTING:
        set_key(st.key, st.tree, ln, c.NEVER)
    elif link[ln, c.STATE] == c.RESTING:
        kick(st, ln)


@inner_bare
def look_at(st: State, s: int) -> None:
    """Bring all outputs of a switch up to now."""
    for o in range(st.switch[s, c.OUT_LO], st.switch[s, c.OUT_HI]):
        look(st, st.todo[o, c.OUTPUTS], st.clock[pre.NOW])


@bare
def look_at_all(st: State) -> None:
    """Bring the counters of every link up to now."""
    for s in range(len(st.switch)):
        look_at(st, s)


@bare
def occupancy(
    st: State, src: IntArray, dst: IntArray, queued_bytes: IntArray, fraction: FloatArray
) -> bool:
    """Queued bytes along wired paths, and the fullest shared buffer on each (Q and U).

    False if a rack does not exist.
    """
    racks, rings = st.ctl[c.RACKS], st.ctl[c.RINGS]
    link, switch = st.link, st.switch
    st.ctl[c.LOOKS] += 1
    for k in range(len(src)):
        if not (0 <= src[k] < racks and 0 <= dst[k] < racks):
            return False
        s, t = link[racks + src[k], c.SWITCH], link[racks + dst[k], c.SWITCH]
        for end in (s, t):
            if switch[end, c.LOOKED] != st.ctl[c.LOOKS]:
                switch[end, c.LOOKED] = st.ctl[c.LOOKS]
                look_at(st, end)
        queued = link[src[k], c.OCC] + link[racks + dst[k], c.OCC]
        full = switch[s, c.TOTAL] / switch[s, c.S_LIMIT]
        if s != t:
            queued += link[2 * racks + s * rings + t, c.OCC]
            full = max(full, switch[t, c.TOTAL] / switch[t, c.S_LIMIT])
        queued_bytes[k] = queued
        fraction[k] = full
    return True
