"""Names for the flow fabric's own columns, and the tuple that carries its arrays.

What it shares with the packet fabric is in :mod:`thzsync.optical.layout`. A row of ``pkt`` is a
*train* here: a run of consecutive packets of one node that moves as a whole.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.optical.layout import BURST, FLOW, FULL, OUT_HI, TAG

IDLE, NEED_TRAINS = 0, 1

# ctl
STARTED, FLOOR = BURST + 1, BURST + 2

# link
QUANTUM: Final = FULL
ENDS, FREE_AT, BG_NEXT, BG_DRAWN, BG_OUTSIDE, BG_ASKED, QUEUED = range(TAG + 1, TAG + 8)
LINK_COLUMNS: Final = 32

MOST_QUEUED: Final = 96
"""Trains that a NIC queue holds at most, however small they are: bounds what an instant needs."""

# node
TRAIN, LANDING = FLOW + 1, FLOW + 2
NODE_COLUMNS: Final = 12

# switch
TIGHT: Final = OUT_HI + 1


class State(NamedTuple):
    """All of a flow fabric's state, in the order in which the kernels take it.

    As that of the packet fabric up to ``outputs``.
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
    kicked: IntArray
    outputs: IntArray
    gap_ps: FloatArray
    draws: AnyArray
