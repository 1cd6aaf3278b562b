"""Names for the columns of the fabrics' flat arrays, and the tuple that carries a packet fabric's.

A row is one thing (a link, a packet, a node, ...), a column one of its attributes; the constants
below are column numbers. "None" is -1 in columns that hold an index. Both fabrics have the columns
of the first part; :mod:`thzsync.optical.flow_layout` has the flow fabric's own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.arrays import AnyArray, IntArray

# states of a link
RESTING, BUSY, WAITING = 0, 1, 2

# ctl: scalars; SPARE is the number of free packet rows
FREE, SPARE, N_KICKS, PACKET, BURST = range(5)
CTL_COLUMNS: Final = 24

# link: a directed link and the queue in front of it (the busier columns first). SWITCH is where it
# begins, -1 for a link from a rack; TO is where it ends, -1 for a link to a rack
HEAD, TAIL, OCC, LIMIT, STATE, SWITCH, FULL, TO = range(8)
RATE, BEGAN, CARRIED, BG_CARRIED, WAIT_HEAD, WAIT_TAIL, LATENCY, POOL = range(8, 16)
RING_HEAD, RING_TAIL, KICKED, TAG = range(16, 20)
LINK_COLUMNS: Final = 24

# pkt: a packet, or a train of packets that moves as a whole; background has node -1
P_NEXT, P_NODE, P_BYTES, P_LEFT, P_HOP, P_READY, P_END = range(7)
PACKET_COLUMNS: Final = 8

# node: a chunk or a run of chunks; the ledger's row of the same number has its precedence
UP, RACK, HASH, BYTES, SENT, N_NEXT, FLOW = range(7)
NODE_COLUMNS: Final = 8

# flow: a rack's unit of sharing, a list of ready nodes; tags stay 0 where flows take turns
F_HEAD, F_TAIL, F_NEXT, F_ACTIVE, F_TAG = range(5)
FLOW_COLUMNS: Final = 8

# switch
OUT_LO, OUT_HI = range(2)
SWITCH_COLUMNS: Final = 8

# pool: a part of a switch's shared buffer, with what is held in it and in the part inside it; row s
# is the whole buffer of switch s
USED, ROOM, PARENT, CHILD, DEPTH = range(5)
POOL_COLUMNS: Final = 8

# ---- the packet fabric's own ----

# what `advance` asks of its caller
IDLE, NEED_PACKETS, NEED_BURSTS, NEED_TRACE = 0, 1, 2, 3

# stages of one instant, in order
NEXT_INSTANT, LINKS, NODES, KICKS, GRANTS = 0, 1, 2, 3, 4

# ctl
STAGE, CURSOR, RESUME, STAMP, N_GRANTS, HOPS, TRACED, TRACING = range(8, 16)
TRAINS, BURSTS_SHORT, LOOKS = range(16, 19)

# link; a LAZY link between switches carries background alone, without events
LAZY: Final = 3
LAST_END: Final = BEGAN  # links without events keep the last end instead of a start
MARKED: Final = TAG + 1  # requests for room must be looked at

# switch
LOAD, AMPLE, EAGER, WAITERS, S_MARKED, LOOKED = range(2, 8)

# burst: the background of a switch output, then the instants of its next bursts
BG_LEFT, BG_BURSTS, BG_POS, FIRST_BURST = 0, 1, 2, 3

# trace: one row per packet and link, written when its last bit has left
T_LINK, T_NODE, T_LEFT, T_BYTES, T_READY, T_START, T_END = range(7)
TRACE_COLUMNS: Final = 7


class State(NamedTuple):
    """All of a packet fabric's state, in the order in which the kernels take it.

    The first four arrays are the ledger's. ``wait`` chains requests for room and ``stamp`` tells
    their age: row l is that of link l, row links + l that of its background. ``kicked`` and
    ``granted`` list links to look at; ``outputs`` has the outputs of all switches. ``table`` and
    ``groups`` say where switches send what (network/forwarding.py).
    """

    clock: IntArray
    task: IntArray
    edge: IntArray
    slots: IntArray
    ctl: IntArray
    link: IntArray
    pkt: IntArray
    node: IntArray
    flow: IntArray
    switch: IntArray
    pool: IntArray
    table: AnyArray
    groups: IntArray
    key: IntArray
    tree: IntArray
    wait: IntArray
    stamp: IntArray
    kicked: IntArray
    granted: IntArray
    outputs: IntArray
    bg_key: IntArray
    bg_tree: IntArray
    burst: IntArray
    trace: IntArray
