"""All-to-All rounds: greedy b-matching, then one selected edge for two (eq:a2a_matching).

Chunks of one flow are interchangeable, so an edge is (flow, subband), written as
``flow * N_c + subband``, and a flow may be used as often as it has ready chunks.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray, kernel
from thzsync.wireless.state import Slots, Web


@kernel
def fits(slots: Slots, edge: int, u: int, v: int) -> bool:
    """Whether an edge from position u to position v can join what is selected already."""
    subbands = slots.free.shape[1]
    return bool(
        slots.left[edge // subbands] > 0
        and slots.usable[edge]
        and slots.free[u, edge % subbands]
        and slots.free[v, edge % subbands]
        and slots.chains[u] > 0
        and slots.chains[v] > 0
    )


@kernel
def take(slots: Slots, edge: int, u: int, v: int) -> None:
    """Occupy both ends of an edge."""
    subbands = slots.free.shape[1]
    slots.free[u, edge % subbands] = slots.free[v, edge % subbands] = False
    slots.chains[u] -= 1
    slots.chains[v] -= 1
    slots.left[edge // subbands] -= 1


@kernel
def give_back(slots: Slots, edge: int, u: int, v: int) -> None:
    """Undo :func:`take`."""
    subbands = slots.free.shape[1]
    slots.free[u, edge % subbands] = slots.free[v, edge % subbands] = True
    slots.chains[u] += 1
    slots.chains[v] += 1
    slots.left[edge // subbands] += 1


@kernel
def match(web: Web, slots: Slots) -> IntArray:
    """The round's edges, rising. ``web.order`` tells which are tried first."""
    picked = np.zeros(len(web.order), dtype=np.bool_)
    _greedy(web, slots, picked)
    _augment(web, slots, picked)
    return np.flatnonzero(picked)


@kernel
def _greedy(web: Web, slots: Slots, picked: BoolArray) -> None:
    subbands = slots.free.shape[1]
    for edge in web.order:
        u, v = web.sender[edge // subbands], web.receiver[edge // subbands]
        if fits(slots, edge, u, v):
            take(slots, edge, u, v)
            picked[edge] = True


@kernel
def _augment(web: Web, slots: Slots, picked: BoolArray) -> None:
    """Exchange one edge for two, weakest first, until no exchange helps.

    Every exchange adds an edge and edges are bounded, so this ends.
    """
    subbands = slots.free.shape[1]
    around = np.empty(len(web.order), dtype=np.int64)
    improved = True
    while improved:
        improved = False
        for edge in web.order[::-1]:
            if not picked[edge]:
                continue
            u, v = web.sender[edge // subbands], web.receiver[edge // subbands]
            give_back(slots, edge, u, v)
            count = _edges_around(web, slots, edge, around)
            first, second = _two_of(web, slots, around[:count])
            picked[edge] = first < 0
            if first < 0:
                take(slots, edge, u, v)
            else:
                picked[first] = picked[second] = improved = True


@kernel
def _two_of(web: Web, slots: Slots, around: IntArray) -> tuple[int, int]:
    """Take the first two edges that fit together, or none and return (-1, -1)."""
    subbands = slots.free.shape[1]
    for i in range(len(around) - 1):
        one = around[i]
        u, v = web.sender[one // subbands], web.receiver[one // subbands]
        take(slots, one, u, v)
        for other in around[i + 1 :]:
            x, y = web.sender[other // subbands], web.receiver[other // subbands]
            if fits(slots, other, x, y):
                take(slots, other, x, y)
                return one, other
        give_back(slots, one, u, v)
    return -1, -1


@kernel
def _edges_around(web: Web, slots: Slots, edge: int, around: IntArray) -> int:
    """Write the other edges that fit and touch either end of ``edge``, best first; count them.

    No edge elsewhere can have become possible, since the matching was maximal before.
    """
    subbands = slots.free.shape[1]
    u, v = web.sender[edge // subbands], web.receiver[edge // subbands]
    count = 0
    for end in range(2):
        here = u if end == 0 else v
        for k in range(web.touch_start[here], web.touch_start[here + 1]):
            flow = web.touch[k]
            x, y = web.sender[flow], web.receiver[flow]
            if slots.left[flow] == 0 or (end == 1 and u in (x, y)):  # or listed already
                continue
            for other in range(flow * subbands, (flow + 1) * subbands):
                if other != edge and fits(slots, other, x, y):
                    around[count] = web.rank[other]
                    count += 1
    around[:count] = web.order[np.sort(around[:count])]
    return count
