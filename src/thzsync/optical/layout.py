"""Names for the columns of the kernel's flat arrays, and the tuple that carries them.

Every array holds int64. A row is one thing (a link, a packet, a node, ...), a column one of its
attributes; the constants below are column numbers. "None" is -1 in columns that hold an index.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.arrays import AnyArray, IntArray

NEVER: Final = 1 << 62
"""A time that never comes [ps]."""

# what `advance` asks of its caller
IDLE, NEED_PACKETS, NEED_BURSTS, NEED_TRACE = 0, 1, 2, 3

# stages of one instant, in order
NEXT_INSTANT, LINKS, NODES, KICKS, GRANTS = 0, 1, 2, 3, 4

# states of an up-link or inter-switch link
RESTING, BUSY, WAITING, GLIDING = 0, 1, 2, 3

# ctl: scalars
STAGE, CURSOR, RESUME, FREE, STAMP, N_KICKS, N_GRANTS, HOPS = range(8)
TRACED, TRACING, TRAINS, RACKS, RINGS, PACKET, DELAY, BURST = range(8, 16)
BURSTS_SHORT, FREE_TICKET, SPARE, BURST_PACKETS, ALONE, LOOKS = range(16, 22)
CTL_COLUMNS = 24
# SPARE: packet rows that are free and promised to nobody; ALONE: whether background that meets
# nobody may do without events

# link: the queue in front of a directed link, and the link (two cache lines, the busier first)
HEAD, TAIL, OCC, LIMIT, STATE, SWITCH, FULL, WAIT_HEAD = 0, 1, 2, 3, 4, 5, 6, 7
RATE, LAST_END, CARRIED, BG_CARRIED, RING_HEAD, RING_TAIL, WAIT_TAIL, MARKED = range(8, 16)
BEGAN = LAST_END  # start of the packet in service; rack-facing links keep the last end instead
# of switch outputs, which have no ring: bursts counted ahead; packets of chunks between switches
AHEAD, CHUNKS = RING_HEAD, RING_TAIL
LINK_COLUMNS = 16

# in MARKED: requests for room must be looked at; the link may have something to send
GRANT_MARK, KICK_MARK = 1, 2

# burst: the background of a switch output, then the instants of its next bursts
BG_LEFT, BG_BURSTS, BG_POS, FIRST_BURST = 0, 1, 2, 3
MOST_AHEAD: Final = 8
"""Bursts of one queue counted ahead at most."""

# ticket: a packet in a NIC queue; it names its chunk
K_NEXT, K_NODE = 0, 1

# pkt: a packet in a switch
P_NEXT, P_NODE, P_BYTES, P_LEFT, P_HOP, P_DOWN, P_READY, P_END = 0, 1, 2, 3, 4, 5, 6, 7
PACKET_COLUMNS = 8

# node: a chunk as packets see it; the ledger's row of the same number has its precedence
SRC, FIRST, DOWN, BYTES, SENT, GONE, N_NEXT, FLOW = range(8)
NODE_COLUMNS = 8

# flow: a rack's round-robin unit, a list of ready nodes
F_HEAD, F_TAIL, F_NEXT, F_ACTIVE = 0, 1, 2, 3
FLOW_COLUMNS = 4

# switch
TOTAL, INTER, LOAD, S_LIMIT, S_INTER_LIMIT, AMPLE, EAGER, WAITERS = 0, 1, 2, 3, 4, 5, 6, 7
S_MARKED, OUT_LO, OUT_HI, LOOKED = 8, 9, 10, 11
SWITCH_COLUMNS = 12

# wait: a request for room, of link l (row l) or of the background of link l (row links + l)
W_NEXT, W_STAMP = 0, 1

# todo: three lists over links
KICKED, GRANTED, OUTPUTS = 0, 1, 2

# trace: one row per packet and link, written when its last bit has left
T_LINK, T_NODE, T_LEFT, T_BYTES, T_READY, T_START, T_END = 0, 1, 2, 3, 4, 5, 6
TRACE_COLUMNS = 7


class State(NamedTuple):
    """All of a fabric's state, in the order in which the kernels take it.

    The first four arrays are the ledger's.
    """

    clock: IntArray
    task: IntArray
    edge: IntArray
    slots: IntArray
    ctl: IntArray
    link: IntArray
    ticket: AnyArray
    admitted: IntArray
    pkt: IntArray
    node: IntArray
    flow: IntArray
    switch: IntArray
    key: IntArray
    tree: IntArray
    wait: IntArray
    todo: IntArray
    bg_key: IntArray
    bg_tree: IntArray
    burst: IntArray
    trace: IntArray
