"""The event loop of the optical fabric (eq:wired_path to eq:wired_flow_delay).

Semantics, per instant t:

1. *Links*, in link order: a packet whose last bit has left leaves its queue and joins the next
   one, or arrives; a rack whose NIC queue got room admits packets; the link then asks for room
   for its next packet. A packet can be sent on only ``switch_delay_ps`` after it joined a queue.
   Then background bursts that arrive at t, in link order, ask for room.
2. *Nodes*: chunks whose last packet arrived complete, in link order, then timers that are due;
   successors without unfinished predecessors become ready, in order.
3. *Racks* that got ready chunks admit packets while the NIC queue has room, one packet per flow
   in turn; their idle up-links ask for room.
4. *Grants*: room is handed out at every switch, oldest request first (see grants.py). A packet
   that gets room starts at t; its room in the next queue is taken from then on, that in its own
   queue is given back when its last bit has left.

Equal times are thus ordered by (time, stage, link). All ends at t come before all starts at t,
which is what allows rack-facing links to be evaluated without an event per packet.
"""

from __future__ import annotations

from thzsync.arrays import NEVER_PS
from thzsync.jit import bare, hot, inner_bare
from thzsync.optical import layout as c
from thzsync.optical.grants import serve_grants
from thzsync.optical.layout import State
from thzsync.optical.packets import settle
from thzsync.optical.queues import (
    add_load,
    admit,
    attempt,
    enter_burst,
    finds_room,
    finish,
    rekey,
    request,
)
from thzsync.optical.racks import is_down, is_up, take_fresh
from thzsync.optical.tournament import set_key
from thzsync.transfers import precedence as pre


@inner_bare
def begin_burst(st: State, q: int, now_ps: int) -> None:
    """A background burst reaches a switch output."""
    ctl, link, burst = st.ctl, st.link, st.burst
    size, full = ctl[c.BURST], ctl[c.PACKET]
    add_load(st, link[q, c.SWITCH], size, now_ps)
    if (
        link[q, c.RATE] > 0
        and finds_room(st, q, size, now_ps)
        and ctl[c.SPARE] > (size + full - 1) // full
    ):
        enter_burst(st, q, now_ps)
    elif burst[q, c.BG_LEFT] == 0:
        burst[q, c.BG_LEFT] = size
        request(st, len(link) + q, q, now_ps)
    else:
        burst[q, c.BG_BURSTS] += 1
    burst[q, c.BG_POS] += 1
    following = NEVER_PS
    if burst[q, c.BG_POS] < burst.shape[1]:
        following = burst[q, burst[q, c.BG_POS]]
    else:
        ctl[c.BURSTS_SHORT] = 1
    set_key(st.bg_key, st.bg_tree, q, following)


@hot
def serve_links(st: State, now_ps: int) -> bool:
    """Stage 1; False when the packet pool is empty (call again after growing it)."""
    ctl, key, tree = st.ctl, st.key, st.tree
    while True:
        ln = tree[1]
        if ctl[c.RESUME] >= 0:
            ln = ctl[c.RESUME]
        elif key[ln] != now_ps:
            break
        elif is_down(st, ln):
            settle(st, ln, now_ps, True)
            rekey(st, ln)
            continue
        elif st.link[ln, c.STATE] == c.BUSY:
            finish(st, ln, now_ps)
        if is_up(st, ln) and not admit(st, ln, now_ps):
            ctl[c.RESUME] = ln
            return False
        ctl[c.RESUME] = -1
        attempt(st, ln, now_ps)
    while st.bg_key[st.bg_tree[1]] == now_ps:
        begin_burst(st, st.bg_tree[1], now_ps)
    return True


@inner_bare
def serve_kicks(st: State, now_ps: int) -> bool:
    """Let kicked racks admit packets and kicked links send; False if the packet pool is empty."""
    ctl, link = st.ctl, st.link
    while ctl[c.CURSOR] < ctl[c.N_KICKS]:
        ln = st.kicked[ctl[c.CURSOR]]
        if is_up(st, ln) and not admit(st, ln, now_ps):
            return False
        link[ln, c.KICKED] = 0
        if link[ln, c.STATE] == c.RESTING:
            attempt(st, ln, now_ps)
        ctl[c.CURSOR] += 1
    ctl[c.CURSOR] = 0
    ctl[c.N_KICKS] = 0
    return True


@hot
def next_instant(st: State) -> int:
    """When something happens next [ps]."""
    time = min(st.key[st.tree[1]], st.bg_key[st.bg_tree[1]])
    if st.clock[pre.TIMERS] > 0:
        time = min(time, st.slots[0, pre.HEAP_AT])
    return int(time)


@bare
def advance(st: State, until_ps: int) -> int:  # noqa: PLR0911, PLR0912 - a state machine
    """Run to the first instant with a report, or to ``until_ps``; what is needed to go on."""
    ctl, clock = st.ctl, st.clock
    if ctl[c.STAGE] == c.NEXT_INSTANT and (
        clock[pre.WORK] + clock[pre.FRESH] + ctl[c.N_KICKS] + ctl[c.N_GRANTS] > 0
    ):
        ctl[c.STAGE] = c.NODES  # this instant was over, and its caller has changed something
    while True:
        now = clock[pre.NOW]
        if ctl[c.STAGE] == c.NEXT_INSTANT:
            if ctl[c.BURSTS_SHORT] == 1:
                return c.NEED_BURSTS
            # no more packets can leave at one instant than there are
            most = len(st.pkt)
            if ctl[c.TRACING] == 1 and ctl[c.TRACED] + most > len(st.trace):
                return c.NEED_TRACE
            time = next_instant(st)
            if clock[pre.REPORTS] > 0 and time > now:
                return c.IDLE
            if time > until_ps:
                clock[pre.NOW] = max(now, until_ps)
                return c.IDLE
            now = time
            clock[pre.NOW] = now
            ctl[c.STAGE] = c.LINKS
        if ctl[c.STAGE] == c.LINKS:
            if not serve_links(st, now):
                return c.NEED_PACKETS
            ctl[c.STAGE] = c.NODES
        # most instants have no work in the later stages: do not even call them
        if ctl[c.STAGE] == c.NODES:
            if pre.due(clock, st.slots, now):
                pre.serve(clock, st.task, st.edge, st.slots, now)
            if clock[pre.FRESH] > 0:
                take_fresh(st)
            ctl[c.STAGE] = c.KICKS
        if ctl[c.STAGE] == c.KICKS:
            if ctl[c.N_KICKS] > 0 and not serve_kicks(st, now):
                return c.NEED_PACKETS
            ctl[c.STAGE] = c.GRANTS
        if ctl[c.N_GRANTS] > 0 and not serve_grants(st, now):
            return c.NEED_PACKETS
        ctl[c.STAGE] = c.NEXT_INSTANT
