"""A rack's side of the flow fabric: ready nodes share its network interface evenly by bytes.

Trains of flows may differ in size, so turns alone would not be fair: the flow that has got least is
next (start-time fair queueing). With equal trains that is the packet fabric's round robin.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import flow_layout as f
from thzsync.optical.flow_bursts import append, free_train, take_train
from thzsync.optical.flow_layout import State
from thzsync.optical.flow_links import attempt, grant, kick
from thzsync.transfers import precedence as pre


@hot
def push_flow(st: State, rack: int, w: int) -> None:
    """Put a flow at the end of its rack's ring."""
    st.flow[w, f.F_NEXT] = -1
    if st.link[rack, f.RING_HEAD] < 0:
        st.link[rack, f.RING_HEAD] = w
    else:
        st.flow[st.link[rack, f.RING_TAIL], f.F_NEXT] = w
    st.link[rack, f.RING_TAIL] = w


@hot
def drop_flow(st: State, rack: int, w: int) -> None:
    """Take a flow out of its rack's ring."""
    flow, link = st.flow, st.link
    before, g = -1, link[rack, f.RING_HEAD]
    while g != w:
        before, g = g, flow[g, f.F_NEXT]
    if before >= 0:
        flow[before, f.F_NEXT] = flow[w, f.F_NEXT]
    else:
        link[rack, f.RING_HEAD] = flow[w, f.F_NEXT]
    if link[rack, f.RING_TAIL] == w:
        link[rack, f.RING_TAIL] = before


@hot
def least_served(st: State, rack: int) -> int:
    """The flow of a rack's ring that has got least; the first among equals; -1 without one."""
    flow, floor = st.flow, st.link[rack, f.TAG]
    best = w = st.link[rack, f.RING_HEAD]
    while w >= 0 and flow[best, f.F_TAG] > floor:
        if flow[w, f.F_TAG] < flow[best, f.F_TAG]:
            best = w
        w = flow[w, f.F_NEXT]
    return int(best)


@hot
def admit(st: State, rack: int, now_ps: int) -> None:
    """Move trains of ready nodes into the NIC queue while it has room."""
    link, node, flow, train = st.link, st.node, st.flow, st.train
    while True:
        w = least_served(st, rack)
        if w < 0:
            return
        n = flow[w, f.F_HEAD]
        left = node[n, f.BYTES] - node[n, f.SENT]
        size = min(left, node[n, f.TRAIN])
        if link[rack, f.OCC] > 0 and link[rack, f.OCC] + (size >> 1) > link[rack, f.LIMIT]:
            return
        if link[rack, f.QUEUED] == f.MOST_QUEUED:
            return
        link[rack, f.QUEUED] += 1
        p = take_train(st)
        train[p, f.T_NODE] = n
        train[p, f.T_BYTES] = size
        train[p, f.T_LAST] = left == size
        train[p, f.T_HOP] = node[n, f.FIRST]
        train[p, f.T_READY] = now_ps
        train[p, f.T_LEAST_END] = 0
        append(st, rack, p)
        link[rack, f.OCC] += size
        node[n, f.SENT] += size
        link[rack, f.TAG] = flow[w, f.F_TAG]
        flow[w, f.F_TAG] += size
        if left == size:
            flow[w, f.F_HEAD] = node[n, f.N_NEXT]
        drop_flow(st, rack, w)
        if flow[w, f.F_HEAD] >= 0:
            push_flow(st, rack, w)
        else:
            flow[w, f.F_ACTIVE] = 0


@hot
def join_flow(st: State, n: int) -> None:
    """A ready node waits in its flow; an idle flow joins its rack's ring."""
    flow, node = st.flow, st.node
    w, rack = node[n, f.FLOW], node[n, f.SRC]
    node[n, f.N_NEXT] = -1
    if flow[w, f.F_HEAD] >= 0:
        node[flow[w, f.F_TAIL], f.N_NEXT] = n
    else:
        flow[w, f.F_HEAD] = n
    flow[w, f.F_TAIL] = n
    if flow[w, f.F_ACTIVE] == 0:
        flow[w, f.F_ACTIVE] = 1
        flow[w, f.F_TAG] = max(flow[w, f.F_TAG], st.link[rack, f.TAG])
        push_flow(st, rack, w)
        kick(st, rack)


@inner_bare
def take_fresh(st: State) -> None:
    """Let the nodes that the ledger found ready for the fibre join their flows, in order."""
    for k in range(st.clock[pre.FRESH]):
        join_flow(st, st.slots[k, pre.FRESH_NODE])
    st.clock[pre.FRESH] = 0


@hot
def serve_kicks(st: State, now_ps: int) -> None:
    """Let kicked racks admit trains; then, as all who ask now stand in line, hand out room."""
    many, racks = st.ctl[f.N_KICKS], st.ctl[f.RACKS]
    st.ctl[f.N_KICKS] = 0
    for k in range(many):
        ln = st.kicked[k]
        st.link[ln, f.KICKED] = 0
        if ln < racks:
            admit(st, ln, now_ps)
            if st.link[ln, f.STATE] == f.RESTING:
                attempt(st, ln, now_ps)
    for k in range(many):
        ln = st.kicked[k]
        if ln >= racks:
            grant(st, ln, now_ps)
            if st.link[ln, f.STATE] == f.RESTING:
                attempt(st, ln, now_ps)


@inner_bare
def leave_nic(st: State, n: int) -> None:
    """Take a node's trains, none of them in service, out of its rack's NIC queue."""
    link, train = st.link, st.train
    rack = st.node[n, f.SRC]
    link[rack, f.OCC] -= st.node[n, f.SENT]
    p = link[rack, f.HEAD]
    if link[rack, f.STATE] == f.WAITING and train[p, f.T_NODE] == n:
        withdraw(st, rack, train[p, f.T_HOP])
    link[rack, f.HEAD] = -1
    while p >= 0:
        following = train[p, f.T_NEXT]
        if train[p, f.T_NODE] == n:
            free_train(st, p)
            link[rack, f.QUEUED] -= 1
        else:
            append(st, rack, p)
        p = following
    kick(st, rack)


@inner_bare
def withdraw(st: State, ln: int, q: int) -> None:
    """A link gives up its place in the line for queue q."""
    link = st.link
    before, r = -1, link[q, f.WAIT_HEAD]
    while r != ln:
        before, r = r, st.wait[r]
    if before >= 0:
        st.wait[before] = st.wait[ln]
    else:
        link[q, f.WAIT_HEAD] = st.wait[ln]
    if link[q, f.WAIT_TAIL] == ln:
        link[q, f.WAIT_TAIL] = before
    link[ln, f.STATE] = f.RESTING
    kick(st, q)


@inner_bare
def leave_flow(st: State, n: int) -> None:
    """Take a ready node out of its flow, and an emptied flow out of its rack's ring."""
    node, flow = st.node, st.flow
    w, rack = node[n, f.FLOW], node[n, f.SRC]
    before, m = -1, flow[w, f.F_HEAD]
    while m >= 0 and m != n:
        before, m = m, node[m, f.N_NEXT]
    if m < 0:
        return
    if before >= 0:
        node[before, f.N_NEXT] = node[n, f.N_NEXT]
    else:
        flow[w, f.F_HEAD] = node[n, f.N_NEXT]
    if flow[w, f.F_TAIL] == n:
        flow[w, f.F_TAIL] = before
    if flow[w, f.F_HEAD] < 0:
        flow[w, f.F_ACTIVE] = 0
        drop_flow(st, rack, w)
