"""The rack's network interface: round-robin admission into a queue of tickets.

A packet in a NIC queue is only a ticket that names its chunk: chunks leave in order, so its size
follows from what the chunk has sent. Deep NIC queues of many racks thus stay in the cache.
"""

from __future__ import annotations

from thzsync.jit import hot
from thzsync.optical import layout as c
from thzsync.optical.layout import State


@hot
def push_flow(st: State, rack: int, f: int) -> None:
    """Put a flow at the end of its rack's ring."""
    link = st.link
    st.flow[f, c.F_NEXT] = -1
    if link[rack, c.RING_HEAD] >= 0:
        st.flow[link[rack, c.RING_TAIL], c.F_NEXT] = f
    else:
        link[rack, c.RING_HEAD] = f
    link[rack, c.RING_TAIL] = f


@hot
def push_ticket(st: State, rack: int, k: int) -> None:
    """Put a ticket at the end of a NIC queue."""
    st.ticket[k, c.K_NEXT] = -1
    if st.link[rack, c.HEAD] < 0:
        st.link[rack, c.HEAD] = k
    else:
        st.ticket[st.link[rack, c.TAIL], c.K_NEXT] = k
    st.link[rack, c.TAIL] = k


@hot
def free_ticket(st: State, k: int) -> None:
    """Give a ticket back."""
    st.ticket[k, c.K_NEXT] = st.ctl[c.FREE_TICKET]
    st.ctl[c.FREE_TICKET] = k


@hot
def leaving_bytes(st: State, n: int) -> int:
    """Size of the next packet of a chunk to leave its rack [bytes]."""
    return int(min(st.node[n, c.BYTES] - st.node[n, c.GONE], st.ctl[c.PACKET]))


@hot
def admit(st: State, rack: int, now_ps: int) -> bool:
    """Move packets of ready flows, round-robin, into the NIC queue; False if tickets run out."""
    ctl, link, node, flow = st.ctl, st.link, st.node, st.flow
    f = link[rack, c.RING_HEAD]
    while f >= 0:
        n = flow[f, c.F_HEAD]
        left = node[n, c.BYTES] - node[n, c.SENT]
        size = min(left, ctl[c.PACKET])
        if link[rack, c.OCC] + size > link[rack, c.LIMIT]:
            return True
        k = ctl[c.FREE_TICKET]
        if k < 0:
            return False
        ctl[c.FREE_TICKET] = st.ticket[k, c.K_NEXT]
        st.ticket[k, c.K_NODE] = n
        if ctl[c.TRACING] == 1:
            st.admitted[k] = now_ps
        push_ticket(st, rack, k)
        link[rack, c.OCC] += size
        node[n, c.SENT] += size
        if left == size:
            flow[f, c.F_HEAD] = node[n, c.N_NEXT]
        following = flow[f, c.F_NEXT]
        if flow[f, c.F_HEAD] < 0:
            flow[f, c.F_ACTIVE] = 0
            link[rack, c.RING_HEAD] = following
        elif following >= 0:
            link[rack, c.RING_HEAD] = following
            push_flow(st, rack, f)
        f = link[rack, c.RING_HEAD]
    return True
