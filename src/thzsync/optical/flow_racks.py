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
from thzsync.optical.racks import drop_flow, enqueue, push_flow


@hot
def least_served(st: State, rack: int) -> int:
    """The flow of a rack's ring that has got least; the first among equals; -1 without one."""
    flow, floor = st.flow, st.link[rack, c.TAG]
    best = w = st.link[rack, c.RING_HEAD]
    while w >= 0 and flow[best, c.F_TAG] > floor:
        if flow[w, c.F_TAG] < flow[best, c.F_TAG]:
            best = w
        w = flow[w, c.F_NEXT]
    return int(best)


@hot
def admit(st: State, rack: int, now_ps: int) -> None:
    """Move trains of ready nodes into the NIC queue while it has room."""
    link, node, flow, pkt = st.link, st.node, st.flow, st.pkt
    while True:
        w = least_served(st, rack)
        if w < 0:
            return
        n = flow[w, c.F_HEAD]
        left = node[n, c.BYTES] - node[n, c.SENT]
        size = min(left, node[n, f.TRAIN])
        if link[rack, c.OCC] > 0 and link[rack, c.OCC] + (size >> 1) > link[rack, c.LIMIT]:
            return
        if link[rack, f.QUEUED] == f.MOST_QUEUED:
            return
        link[rack, f.QUEUED] += 1
        p = take(st.ctl, pkt)
        pkt[p, c.P_NODE] = n
        pkt[p, c.P_BYTES] = size
        pkt[p, c.P_LEFT] = left - size
        pkt[p, c.P_HOP] = node[n, c.FIRST]
        pkt[p, c.P_DOWN] = node[n, c.DOWN]
        pkt[p, c.P_READY] = now_ps
        pkt[p, c.P_END] = 0
        enqueue(st, rack, p)
        link[rack, c.OCC] += size
        node[n, c.SENT] += size
        link[rack, c.TAG] = flow[w, c.F_TAG]
        flow[w, c.F_TAG] += size
        if left == size:
            flow[w, c.F_HEAD] = node[n, c.N_NEXT]
        drop_flow(st, rack, w)
        if flow[w, c.F_HEAD] >= 0:
            push_flow(st, rack, w)
        else:
            flow[w, c.F_ACTIVE] = 0


@hot
def serve_kicks(st: State, now_ps: int) -> None:
    """Let kicked racks admit trains; then, as all who ask now stand in line, hand out room."""
    many, racks = st.ctl[c.N_KICKS], st.ctl[c.RACKS]
    st.ctl[c.N_KICKS] = 0
    for k in range(many):
        ln = st.kicked[k]
        st.link[ln, c.KICKED] = 0
        if ln < racks:
            admit(st, ln, now_ps)
            if st.link[ln, c.STATE] == c.RESTING:
                attempt(st, ln, now_ps)
    for k in range(many):
        ln = st.kicked[k]
        if ln >= racks:
            grant(st, ln, now_ps)
            if st.link[ln, c.STATE] == c.RESTING:
                attempt(st, ln, now_ps)
