"""A tournament (winner) tree: the earliest of many times, lowest index first among equals.

``key[l]`` is the time of leaf l; ``tree[p]`` the winner below position p, ``tree[1]`` the winner
of all, leaves at ``tree[len(key) + l]``. ``len(key)`` is a power of two. A change replays one
path, without branches: the outcome of a match is data, and mispredicted branches would cost more
than the matches.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import NEVER_PS, IntArray
from thzsync.jit import hot


@hot
def set_key(key: IntArray, tree: IntArray, leaf: int, time_ps: int) -> None:
    """Give a leaf a new time [ps] and replay its path to the root."""
    key[leaf] = time_ps
    position = len(key) + leaf
    winner, best = leaf, time_ps
    while position > 1:
        rival = tree[position ^ 1]
        time = key[rival]
        # the left-hand side wins ties: a rival sits left of us when our position is odd
        mask = -np.int64(time < best + (position & 1))
        winner ^= (winner ^ rival) & mask
        best ^= (best ^ time) & mask
        position >>= 1
        tree[position] = winner


def empty_tree(leaves: int) -> tuple[IntArray, IntArray]:
    """Keys and tree for at least the given number of leaves, none of them scheduled."""
    size = 1 << max(0, leaves - 1).bit_length()
    key = np.full(size, NEVER_PS, dtype=np.int64)
    tree = np.zeros(2 * size, dtype=np.int64)
    tree[size:] = np.arange(size)
    for position in range(size - 1, 0, -1):
        tree[position] = tree[2 * position]
    return key, tree
