"""Linked lists and free lists in flat arrays: rows name the next one, their owner the ends.

``following`` is the column that names the next row of a list, -1 after the last. The row of an
owner has the first and the last of its list in two columns; the first is -1 in an empty list.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.jit import hot
from thzsync.optical import layout as c


@hot
def append(owner: IntArray, row: int, head: int, tail: int, following: IntArray, item: int) -> None:
    """Put an item at the end of the list of a row of its owner."""
    following[item] = -1
    if owner[row, head] < 0:
        owner[row, head] = item
    else:
        following[owner[row, tail]] = item
    owner[row, tail] = item


@hot
def remove(owner: IntArray, row: int, head: int, tail: int, following: IntArray, item: int) -> None:
    """Take an item out of the list of a row of its owner, if it is there."""
    before, other = -1, owner[row, head]
    while other >= 0 and other != item:
        before, other = other, following[other]
    if other < 0:
        return
    if before >= 0:
        following[before] = following[item]
    else:
        owner[row, head] = following[item]
    if owner[row, tail] == item:
        owner[row, tail] = before


@hot
def take(ctl: IntArray, pkt: IntArray) -> int:
    """A free packet row; the caller has seen to it that there is one."""
    p = ctl[c.FREE]
    ctl[c.FREE] = pkt[p, c.P_NEXT]
    ctl[c.SPARE] -= 1
    return int(p)


@hot
def give(ctl: IntArray, pkt: IntArray, p: int) -> None:
    """Give a packet row back."""
    pkt[p, c.P_NEXT] = ctl[c.FREE]
    ctl[c.FREE] = p
    ctl[c.SPARE] += 1


def add_rows(ctl: IntArray, pkt: IntArray, first: int) -> None:
    """Add the packet rows from ``first`` on to the list of free ones."""
    pkt[first:, c.P_NEXT] = np.arange(first + 1, len(pkt) + 1)
    pkt[-1, c.P_NEXT] = ctl[c.FREE]
    ctl[c.FREE] = first
    ctl[c.SPARE] += len(pkt) - first
