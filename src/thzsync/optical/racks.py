"""A rack's side of both fabrics: ready nodes wait in flows, flows with ready nodes in a ring.

How packets or trains of the flows in a ring enter the queue of the network interface is for each
fabric to say.
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
def is_down(st: AnyState, ln: int) -> bool:
    """Whether a link leads from a switch to a rack."""
    return bool(st.ctl[c.RACKS] <= ln < 2 * st.ctl[c.RACKS])


@hot
def occupy(st: AnyState, q: int, size: int) -> None:
    """Take room in a switch's queue and shared buffer; a negative size gives it back."""
    s = st.link[q, c.SWITCH]
    st.link[q, c.OCC] += size
    st.switch[s, c.TOTAL] += size
    if q >= 2 * st.ctl[c.RACKS]:
        st.switch[s, c.INTER] += size


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
def push_flow(st: AnyState, rack: int, w: int) -> None:
    """Put a flow at the end of its rack's ring."""
    append(st.link, rack, c.RING_HEAD, c.RING_TAIL, st.flow[:, c.F_NEXT], w)


@hot
def drop_flow(st: AnyState, rack: int, w: int) -> None:
    """Take a flow out of its rack's ring."""
    remove(st.link, rack, c.RING_HEAD, c.RING_TAIL, st.flow[:, c.F_NEXT], w)


@inner_bare
def take_fresh(st: AnyState) -> None:
    """Let nodes that became ready join their flows, in order; idle flows join their rings."""
    flow = st.flow
    for k in range(st.clock[pre.FRESH]):
        n = st.slots[k, pre.FRESH_NODE]
        w, rack = st.node[n, c.FLOW], st.node[n, c.SRC]
        append(flow, w, c.F_HEAD, c.F_TAIL, st.node[:, c.N_NEXT], n)
        if flow[w, c.F_ACTIVE] == 0:
            flow[w, c.F_ACTIVE] = 1
            flow[w, c.F_TAG] = max(flow[w, c.F_TAG], st.link[rack, c.TAG])
            push_flow(st, rack, w)
            kick(st, rack)
    st.clock[pre.FRESH] = 0


@inner_bare
def leave_nic(st: AnyState, n: int) -> int:
    """Take a node's packets, none of them in service, out of the NIC queue; how many they are."""
    link, pkt, rack, left = st.link, st.pkt, st.node[n, c.SRC], 0
    link[rack, c.OCC] -= st.node[n, c.SENT]
    st.node[n, c.SENT] = 0
    p = link[rack, c.HEAD]
    link[rack, c.HEAD] = -1
    while p >= 0:
        following = pkt[p, c.P_NEXT]
        if pkt[p, c.P_NODE] == n:
            give(st.ctl, pkt, p)
            left += 1
        else:
            enqueue(st, rack, p)
        p = following
    kick(st, rack)
    return left


@inner_bare
def leave_flow(st: AnyState, n: int) -> None:
    """Take a node out of its flow, and an emptied flow out of its rack's ring."""
    flow, w = st.flow, st.node[n, c.FLOW]
    remove(flow, w, c.F_HEAD, c.F_TAIL, st.node[:, c.N_NEXT], n)
    if flow[w, c.F_HEAD] < 0 and flow[w, c.F_ACTIVE] == 1:
        flow[w, c.F_ACTIVE] = 0
        drop_flow(st, st.node[n, c.SRC], w)
