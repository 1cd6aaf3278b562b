"""The chunk graph: nodes become ready, complete, and release their successors.

A ready wired chunk waits in its flow, a flow with ready chunks in its rack's round-robin ring.
"""

from __future__ import annotations

from thzsync.optical import layout as c
from thzsync.optical.jit import hot, kernel
from thzsync.optical.layout import State
from thzsync.optical.nic import admit, push_flow
from thzsync.optical.queues import attempt


@hot
def report(st: State, node: int, what: int) -> None:
    """Tell the caller that a node is ready or done."""
    k = st.ctl[c.REPORTS]
    st.slots[k, c.R_NODE] = node
    st.slots[k, c.R_WHAT] = what
    st.ctl[c.REPORTS] = k + 1


@hot
def push_done(st: State, node: int) -> None:
    """Queue a node that completes at this instant."""
    st.slots[st.ctl[c.WORK], c.DONE_NODE] = node
    st.ctl[c.WORK] += 1


@hot
def kick(st: State, ln: int) -> None:
    """Remember that a link may have something to send."""
    if st.link[ln, c.MARKED] & c.KICK_MARK == 0:
        st.link[ln, c.MARKED] |= c.KICK_MARK
        st.todo[st.ctl[c.N_KICKS], c.KICKED] = ln
        st.ctl[c.N_KICKS] += 1


@hot
def earlier(st: State, a: int, b: int) -> bool:
    """Whether timer slot a fires before slot b."""
    slots = st.slots
    if slots[a, c.HEAP_AT] != slots[b, c.HEAP_AT]:
        return bool(slots[a, c.HEAP_AT] < slots[b, c.HEAP_AT])
    return bool(slots[a, c.HEAP_SEQ] < slots[b, c.HEAP_SEQ])


@hot
def swap_timers(st: State, a: int, b: int) -> None:
    """Exchange two timer slots."""
    slots = st.slots
    for column in (c.HEAP_AT, c.HEAP_SEQ, c.HEAP_NODE):
        kept = slots[a, column]
        slots[a, column] = slots[b, column]
        slots[b, column] = kept


@kernel
def push_timer(st: State, node: int, at_ps: int) -> None:
    """Wake a node at a later instant."""
    k = st.ctl[c.TIMERS]
    st.slots[k, c.HEAP_AT] = at_ps
    st.slots[k, c.HEAP_SEQ] = st.ctl[c.TIMER_SEQ]
    st.slots[k, c.HEAP_NODE] = node
    st.ctl[c.TIMER_SEQ] += 1
    st.ctl[c.TIMERS] += 1
    while k > 0 and earlier(st, k, (k - 1) >> 1):
        swap_timers(st, k, (k - 1) >> 1)
        k = (k - 1) >> 1


@kernel
def pop_timer(st: State) -> int:
    """The node of the earliest timer."""
    node = st.slots[0, c.HEAP_NODE]
    n = st.ctl[c.TIMERS] - 1
    st.ctl[c.TIMERS] = n
    swap_timers(st, 0, n)
    k = 0
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and earlier(st, child + 1, child):
            child += 1
        if not earlier(st, child, k):
            break
        swap_timers(st, child, k)
        k = child
    return int(node)


@hot
def join_flow(st: State, node: int) -> None:
    """A ready wired chunk waits in its flow; an idle flow joins its rack's ring."""
    flow = st.flow
    f, rack = st.node[node, c.FLOW], st.node[node, c.SRC]
    st.node[node, c.N_NEXT] = -1
    if flow[f, c.F_HEAD] >= 0:
        st.node[flow[f, c.F_TAIL], c.N_NEXT] = node
    else:
        flow[f, c.F_HEAD] = node
    flow[f, c.F_TAIL] = node
    if flow[f, c.F_ACTIVE] == 0:
        flow[f, c.F_ACTIVE] = 1
        push_flow(st, rack, f)
        kick(st, rack)


@hot
def make_ready(st: State, node: int, now_ps: int) -> None:
    """All predecessors of a node are done (eq:release_constraint)."""
    row = st.node
    row[node, c.READY_AT] = now_ps
    kind = row[node, c.KIND]
    if kind == c.WIRED:
        join_flow(st, node)
    elif kind == c.EXTERNAL:
        report(st, node, c.READY)
    elif kind == c.TIMER and row[node, c.RELEASE] > now_ps:
        push_timer(st, node, row[node, c.RELEASE])
    else:
        push_done(st, node)


@kernel
def serve_nodes(st: State, now_ps: int) -> None:
    """Fire due timers, then complete nodes and release successors until nothing is left."""
    ctl, node, slots = st.ctl, st.node, st.slots
    while ctl[c.TIMERS] > 0 and slots[0, c.HEAP_AT] <= now_ps:
        n = pop_timer(st)
        if node[n, c.READY_AT] < 0:  # a batch submitted for this instant
            make_ready(st, n, now_ps)
        else:
            push_done(st, n)
    k = 0
    while k < ctl[c.WORK]:
        n = slots[k, c.DONE_NODE]
        k += 1
        node[n, c.DONE_AT] = now_ps
        if node[n, c.FLAGS] & c.NOTIFY:
            report(st, n, c.DONE)
        for e in range(node[n, c.SUCC_LO], node[n, c.SUCC_HI]):
            successor = st.edge[e]
            node[successor, c.PENDING] -= 1
            if node[successor, c.PENDING] == 0:
                make_ready(st, successor, now_ps)
    ctl[c.WORK] = 0


@kernel
def serve_kicks(st: State, now_ps: int) -> bool:
    """Let kicked racks admit packets and kicked links send; False if the packet pool is empty."""
    ctl, link = st.ctl, st.link
    while ctl[c.CURSOR] < ctl[c.N_KICKS]:
        ln = st.todo[ctl[c.CURSOR], c.KICKED]
        if ln < ctl[c.RACKS] and not admit(st, ln, now_ps):
            return False
        link[ln, c.MARKED] &= ~c.KICK_MARK
        if link[ln, c.STATE] == c.RESTING:
            attempt(st, ln, now_ps)
        ctl[c.CURSOR] += 1
    ctl[c.CURSOR] = 0
    ctl[c.N_KICKS] = 0
    return True
