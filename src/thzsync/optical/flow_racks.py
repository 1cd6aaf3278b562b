"""A rack's side of the flow fabric: ready nodes share its network interface evenly by bytes.

Trains of flows may differ in size, so turns alone would not be fair: the flow that has got least is
next (start-time fair queueing). With equal trains that is the packet fabric's round robin.
"""

from __future__ import annotations

from thzsync.jit import hot
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_links import attempt, grant
from thzsync.optical.lists import take
from thzsync.optical.racks import drop_flow, enqueue, is_up, node_hop, push_flow


@hot
def least_served(st: State, up: int) -> int:
    """The flow of a ring that has got least; the first among equals; -1 without one."""
    flow, floor = st.flow, st.link[up, c.TAG]
    best = w = st.link[up, c.RING_HEAD]
    while w >= 0 and flow[best, c.F_TAG] > floor:
        if flow[w, c.F_TAG] < flow[best, c.F_TAG]:
            best = w
        w = flow[w, c.F_NEXT]
    return int(best)


@hot
def admit(st: State, up: int, now_ps: int) -> None:
    """Move trains of ready nodes into a NIC queue while it has room."""
    link, node, flow, pkt = st.link, st.node, st.flow, st.pkt
    while True:
        w = least_served(st, up)
        if w < 0:
            return
        n = flow[w, c.F_HEAD]
        left = node[n, c.BYTES] - node[n, c.SENT]
        size = min(left, node[n, f.TRAIN])
        if link[up, c.OCC] > 0 and link[up, c.OCC] + (size >> 1) > link[up, c.LIMIT]:
            return
        if link[up, f.QUEUED] == f.MOST_QUEUED:
            return
        link[up, f.QUEUED] += 1
        p = take(st.ctl, pkt)
        pkt[p, c.P_NODE] = n
        pkt[p, c.P_BYTES] = size
        pkt[p, c.P_LEFT] = left - size
        pkt[p, c.P_HOP] = node_hop(st, up, n)
        pkt[p, c.P_READY] = now_ps + link[up, c.LATENCY]
        pkt[p, c.P_END] = 0
        enqueue(st, up, p)
        link[up, c.OCC] += size
        node[n, c.SENT] += size
        link[up, c.TAG] = flow[w, c.F_TAG]
        flow[w, c.F_TAG] += size
        if left == size:
            flow[w, c.F_HEAD] = node[n, c.N_NEXT]
        drop_flow(st, up, w)
        if flow[w, c.F_HEAD] >= 0:
            push_flow(st, up, w)
        else:
            flow[w, c.F_ACTIVE] = 0


@hot
def serve_kicks(st: State, now_ps: int) -> None:
    """Let kicked racks admit trains; then, as all who ask now stand in line, hand out room."""
    many = st.ctl[c.N_KICKS]
    st.ctl[c.N_KICKS] = 0
    for k in range(many):
        ln = st.kicked[k]
        st.link[ln, c.KICKED] = 0
        if is_up(st, ln):
            admit(st, ln, now_ps)
            if st.link[ln, c.STATE] == c.RESTING:
                attempt(st, ln, now_ps)
    for k in range(many):
        ln = st.kicked[k]
        if not is_up(st, ln):
            grant(st, ln, now_ps)
            if st.link[ln, c.STATE] == c.RESTING:
                attempt(st, ln, now_ps)
