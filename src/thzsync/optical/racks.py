"""What both fabrics share: a rack's side, room at switches, and forwarding.

Ready nodes wait in flows, flows with ready nodes in the ring of their link into the network. How
packets or trains of the flows in a ring enter the queue of this link is for each fabric to say.
"""

from __future__ import annotations

from typing import TypeAlias

from thzsync.jit import hot, inner_bare
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.lists import append, give, remove
from thzsync.transfers import precedence as pre

AnyState: TypeAlias = c.State | f.State


@hot
def is_up(st: AnyState, ln: int) -> bool:
    """Whether a link leads from a rack to a switch."""
    return bool(st.link[ln, c.SWITCH] < 0)


@hot
def is_down(st: AnyState, ln: int) -> bool:
    """Whether a link leads from a switch to a rack."""
    return bool(st.link[ln, c.TO] < 0)


@hot
def next_hop(st: AnyState, ln: int, rack: int, chosen: int) -> int:
    """The link after ``ln`` on the way to a rack; -1 if it leads there.

    Of equally short ways a hash picks one, as `Forwarding.pick` does.
    """
    s = st.link[ln, c.TO]
    if s < 0:
        return -1
    entry = st.table[s, rack]
    if entry >= 0:
        return int(entry)
    group, groups = -1 - entry, st.groups
    return int(groups[group + 2 + (chosen >> groups[group + 1]) % groups[group]])


@hot
def node_hop(st: AnyState, ln: int, n: int) -> int:
    """The link after ``ln`` on the way of a node's packets."""
    return next_hop(st, ln, st.node[n, c.RACK], st.node[n, c.HASH])


@hot
def occupy(st: AnyState, q: int, size: int) -> None:
    """Take room in a switch's queue and shared buffer; a negative size gives it back."""
    pool = st.pool
    st.link[q, c.OCC] += size
    k = st.link[q, c.POOL]
    while k >= 0:
        pool[k, c.USED] += size
        k = pool[k, c.PARENT]


@hot
def enqueue(st: AnyState, ln: int, p: int) -> None:
    """Put a packet at the end of a link's queue."""
    append(st.link, ln, c.HEAD, c.TAIL, st.pkt[:, c.P_NEXT], p)


@hot
def kick(st: AnyState, ln: int) -> None:
    """Remember that a link may have something to send."""
    if st.link[ln, c.KICKED] == 0:
        st.link[ln, c.KICKED] = 1
        st.kicked[st.ctl[c.N_KICKS]] = ln
        st.ctl[c.N_KICKS] += 1


@hot
def push_flow(st: AnyState, up: int, w: int) -> None:
    """Put a flow at the end of its link's ring."""
    append(st.link, up, c.RING_HEAD, c.RING_TAIL, st.flow[:, c.F_NEXT], w)


@hot
def drop_flow(st: AnyState, up: int, w: int) -> None:
    """Take a flow out of its link's ring."""
    remove(st.link, up, c.RING_HEAD, c.RING_TAIL, st.flow[:, c.F_NEXT], w)


@inner_bare
def take_fresh(st: AnyState) -> None:
    """Let nodes that became ready join their flows, in order; idle flows join their rings."""
    flow = st.flow
    for k in range(st.clock[pre.FRESH]):
        n = st.slots[k, pre.FRESH_NODE]
        w, up = st.node[n, c.FLOW], st.node[n, c.UP]
        append(flow, w, c.F_HEAD, c.F_TAIL, st.node[:, c.N_NEXT], n)
        if flow[w, c.F_ACTIVE] == 0:
            flow[w, c.F_ACTIVE] = 1
            flow[w, c.F_TAG] = max(flow[w, c.F_TAG], st.link[up, c.TAG])
            push_flow(st, up, w)
            kick(st, up)
    st.clock[pre.FRESH] = 0


@inner_bare
def leave_nic(st: AnyState, n: int) -> int:
    """Take a node's packets, none of them in service, out of the NIC queue; how many they are."""
    link, pkt, up, left = st.link, st.pkt, st.node[n, c.UP], 0
    link[up, c.OCC] -= st.node[n, c.SENT]
    st.node[n, c.SENT] = 0
    p = link[up, c.HEAD]
    link[up, c.HEAD] = -1
    while p >= 0:
        following = pkt[p, c.P_NEXT]
        if pkt[p, c.P_NODE] == n:
            give(st.ctl, pkt, p)
            left += 1
        else:
            enqueue(st, up, p)
        p = following
    kick(st, up)
    return left


@inner_bare
def leave_flow(st: AnyState, n: int) -> None:
    """Take a node out of its flow, and an emptied flow out of its ring."""
    flow, w = st.flow, st.node[n, c.FLOW]
    remove(flow, w, c.F_HEAD, c.F_TAIL, st.node[:, c.N_NEXT], n)
    if flow[w, c.F_HEAD] < 0 and flow[w, c.F_ACTIVE] == 1:
        flow[w, c.F_ACTIVE] = 0
        drop_flow(st, st.node[n, c.UP], w)
