"""The fibre's side of precedence: ready chunks join their flows, and racks are told.

A ready chunk waits in its flow, a flow with ready chunks in its rack's round-robin ring.
"""

from __future__ import annotations

from thzsync.jit import hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.layout import State
from thzsync.optical.nic import admit, push_flow
from thzsync.optical.queues import attempt
from thzsync.transfers import precedence as pre


@hot
def kick(st: State, ln: int) -> None:
    """Remember that a link may have something to send."""
    if st.link[ln, c.MARKED] & c.KICK_MARK == 0:
        st.link[ln, c.MARKED] |= c.KICK_MARK
        st.todo[st.ctl[c.N_KICKS], c.KICKED] = ln
        st.ctl[c.N_KICKS] += 1


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


@inner_bare
def take_fresh(st: State) -> None:
    """Let the chunks that the ledger found ready for the fibre join their flows, in order."""
    for k in range(st.clock[pre.FRESH]):
        join_flow(st, st.slots[k, pre.FRESH_NODE])
    st.clock[pre.FRESH] = 0


@inner_bare
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
