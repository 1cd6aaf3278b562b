"""Names for the columns of the flow fabric's arrays, and the tuple that carries them.

As in :mod:`thzsync.optical.layout` a row is one thing, a column one of its attributes, and "none"
is -1. The rows are fewer: a *train* is a run of consecutive packets of one node that moves as a
whole.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.arrays import AnyArray, FloatArray, IntArray

NEVER: Final = 1 << 62
"""A time that never comes [ps]."""

IDLE, NEED_TRAINS = 0, 1
RESTING, BUSY, WAITING = 0, 1, 2

# ctl: scalars
FREE, SPARE, N_KICKS, RACKS, RINGS, PACKET, DELAY, BURST, STARTED, FLOOR = range(10)
CTL_COLUMNS: Final = 16

# link: a directed link and the queue in front of it
HEAD, TAIL, OCC, LIMIT, STATE, SWITCH, RATE, WAIT_HEAD = range(8)
WAIT_TAIL, BEGAN, ENDS, CARRIED, BG_CARRIED, FREE_AT, QUANTUM, KICKED = range(8, 16)
RING_HEAD, RING_TAIL, TAG, BG_NEXT, BG_DRAWN, BG_OUTSIDE, BG_ASKED, QUEUED = range(16, 24)
LINK_COLUMNS: Final = 24

MOST_QUEUED: Final = 96
"""Trains that a NIC queue holds at most, however small they are: bounds what an instant needs."""

# train: packets of a node in one queue; background has node -1
T_NEXT, T_NODE, T_BYTES, T_LAST, T_HOP, T_READY, T_LEAST_END = range(7)
TRAIN_COLUMNS: Final = 8

# node: a chunk or a run of chunks; the ledger's row of the same number has its precedence
SRC, FIRST, DOWN, BYTES, SENT, N_NEXT, FLOW, TRAIN, LANDING = range(9)
NODE_COLUMNS: Final = 12

# flow: a rack's unit of sharing, a list of ready nodes
F_HEAD, F_TAIL, F_NEXT, F_ACTIVE, F_TAG = range(5)
FLOW_COLUMNS: Final = 8

# switch
TOTAL, INTER, S_LIMIT, S_INTER_LIMIT, TIGHT, OUT_LO, OUT_HI = range(7)
SWITCH_COLUMNS: Final = 8


class State(NamedTuple):
    """All of a flow fabric's state, in the order in which the kernels take it.

    The first four arrays are the ledger's. ``wait`` chains requests for room (row l of link l, row
    links + l of its background); ``todo`` lists kicked links, then the outputs of all switches.
    """

    clock: IntArray
    task: IntArray
    edge: IntArray
    slots: IntArray
    ctl: IntArray
    link: IntArray
    train: IntArray
    node: IntArray
    flow: IntArray
    switch: IntArray
    key: IntArray
    tree: IntArray
    wait: IntArray
    kicked: IntArray
    outputs: IntArray
    gap_ps: FloatArray
    draws: AnyArray
