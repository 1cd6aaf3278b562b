"""Orders in which everything comes after what it waits for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from thzsync.arrays import IntArray

FEW: Final = 128
"""Dependencies that are ordered before machine code could be loaded, let alone made."""
WORTH_COMPILING: Final = 50_000
"""Dependencies from which on it pays to load the compiler, if nobody has done so."""


def topological_order(after_start: IntArray, after: IntArray) -> IntArray:
    """Numbers so that each comes after those in its row of ``after``; fewer than all on a cycle."""
    if len(after) > (FEW if "numba" in sys.modules else WORTH_COMPILING):
        return _compiled()(after_start, after)
    return plain_order(after_start, after)


@cache
def _compiled() -> Callable[[IntArray, IntArray], IntArray]:
    from thzsync.jit import kernel

    return kernel(plain_order)


def plain_order(after_start: IntArray, after: IntArray) -> IntArray:
    """The same, in the Python that is compiled."""
    count = len(after_start) - 1
    begin, filled = np.zeros(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    for p in after:
        begin[p + 1] += 1
    for n in range(count):
        filled[n] = begin[n]
        begin[n + 1] += begin[n]
    follower = np.empty(len(after), dtype=np.int64)
    for n in range(count):
        for e in range(after_start[n], after_start[n + 1]):
            follower[filled[after[e]]] = n
            filled[after[e]] += 1
    waiting, order = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    found = 0
    for n in range(count):
        waiting[n] = after_start[n + 1] - after_start[n]
        if waiting[n] == 0:
            order[found] = n
            found += 1
    done = 0
    while done < found:
        for e in range(begin[order[done]], begin[order[done] + 1]):
            waiting[follower[e]] -= 1
            if waiting[follower[e]] == 0:
                order[found] = follower[e]
                found += 1
        done += 1
    return order[:found]
