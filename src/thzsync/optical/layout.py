"""Names for the columns of the kernel's flat arrays, and the tuple that carries them.

Every array holds int64. A row is one thing (a link, a packet, a node, ...), a column one of its
attributes; the constants below are column numbers. "None" is -1 in columns that hold an index.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.arrays import AnyArray, IntArray

NEVER: Final = 1 << 62
"""A time that never comes [ps]."""

# kinds of node, what a report says, flags
WIRED, EXTERNAL, TIMER, JOIN = 0, 1, 2, 3
READY, DONE = 0, 1
NOTIFY = 1

# what `advance` asks of its caller
IDLE, NEED_PACKETS, NEED_BURSTS, NEED_TRACE = 0, 1, 2, 3

# stages of one instant, in order
NEXT_INSTANT, LINKS, NODES, KICKS, GRANTS = 0, 1, 2, 3, 4

# states of an up-link or inter-switch link
RESTING, BUSY, WAITING = 0, 1, 2

# ctl: scalars
NOW, STAGE, CURSOR, RESUME, FREE, STAMP, TIMER_SEQ, TIMERS = 0, 1, 2, 3, 4, 5, 6, 7
REPORTS, WORK, N_KICKS, N_GRANTS, HOPS, TRACED, TRACING, TRAINS = 8, 9, 10, 11, 12, 13, 14, 15
RACKS, RINGS, PACKET, DELAY, BURST, BURSTS_SHORT, FREE_TICKET = 16, 17, 18, 19, 20, 21, 22
CTL_COLUMNS = 24

# link: the queue in front of a directed link, and the link (two cache lines, the busier first)
HEAD, TAIL, OCC, LIMIT, STATE, SWITCH, FULL, WAIT_HEAD = 0, 1, 2, 3, 4, 5, 6, 7
RATE, LAST_END, CARRIED, BG_CARRIED, RING_HEAD, RING_TAIL, WAIT_TAIL, MARKED = range(8, 16)
BEGAN = LAST_END  # start of the packet in service; rack-facing links keep the last end instead
LINK_COLUMNS = 16

# in MARKED: requests for room must be looked at; the link may have something to send
GRANT_MARK, KICK_MARK = 1, 2

# burst: the background of a switch output, then the instants of its next bursts
BG_LEFT, BG_BURSTS, BG_POS, FIRST_BURST = 0, 1, 2, 3

# ticket: a packet in a NIC queue; it names its chunk
K_NEXT, K_NODE = 0, 1

# pkt: a packet in a switch
P_NEXT, P_NODE, P_BYTES, P_LEFT, P_HOP, P_DOWN, P_READY, P_END = 0, 1, 2, 3, 4, 5, 6, 7
PACKET_COLUMNS = 8

# node: a chunk, timer or join
KIND, SRC, FIRST, DOWN, BYTES, SENT, GONE, N_NEXT = 0, 1, 2, 3, 4, 5, 6, 7
SUCC_LO, SUCC_HI, FLAGS, READY_AT, START_AT, DONE_AT, PENDING, RELEASE = range(8, 16)
FLOW = RELEASE  # only timers have a release, only chunks a flow
NODE_COLUMNS = 16

# flow: a rack's round-robin unit, a list of ready nodes
F_HEAD, F_TAIL, F_NEXT, F_ACTIVE = 0, 1, 2, 3
FLOW_COLUMNS = 4

# switch
TOTAL, INTER, LOAD, S_LIMIT, S_INTER_LIMIT, AMPLE, EAGER, WAITERS = 0, 1, 2, 3, 4, 5, 6, 7
S_MARKED, OUT_LO, OUT_HI = 8, 9, 10
SWITCH_COLUMNS = 12

# wait: a request for room, of link l (row l) or of the background of link l (row links + l)
W_NEXT, W_STAMP = 0, 1

# todo: three lists over links
KICKED, GRANTED, OUTPUTS = 0, 1, 2

# slots: lists as long as the node table
DONE_NODE, HEAP_AT, HEAP_SEQ, HEAP_NODE, R_NODE, R_WHAT = 0, 1, 2, 3, 4, 5
SLOT_COLUMNS = 6

# trace: one row per packet and link, written when its last bit has left
T_LINK, T_NODE, T_LEFT, T_BYTES, T_READY, T_START, T_END = 0, 1, 2, 3, 4, 5, 6
TRACE_COLUMNS = 7


class State(NamedTuple):
    """All of a fabric's state, in the order in which the kernels take it."""

    ctl: IntArray
    link: IntArray
    ticket: AnyArray
    admitted: IntArray
    pkt: IntArray
    node: IntArray
    edge: IntArray
    flow: IntArray
    switch: IntArray
    key: IntArray
    tree: IntArray
    wait: IntArray
    todo: IntArray
    slots: IntArray
    bg_key: IntArray
    bg_tree: IntArray
    burst: IntArray
    trace: IntArray
