"""Which edges a round takes: by matching or by assignment.

An All-to-All's rounds come from a greedy b-matching, in which then one selected edge is exchanged
for two (eq:a2a_matching). In an AllReduce's every ready transmission takes one subband
(eq:ar_round_problem). Chunks of one flow are interchangeable, so an edge is (flow, subband),
written as ``flow * N_c + subband``, and a flow may be used as often as it has ready chunks.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.jit import bare, inner, inner_bare, kernel
from thzsync.wireless.state import LinkTable, Slots


@bare
def fits(slots: Slots, flow: int, subband: int, u: int, v: int) -> bool:
    """Whether a flow from position u to position v can join the selected ones on a subband."""
    return bool(
        slots.free[u, subband]
        and slots.free[v, subband]
        and slots.left[flow] > 0
        and slots.usable[flow, subband]
        and slots.chains[u] > 0
        and slots.chains[v] > 0
    )


@bare
def take(slots: Slots, flow: int, subband: int, u: int, v: int) -> None:
    """Occupy both ends of an edge."""
    slots.free[u, subband] = slots.free[v, subband] = False
    slots.chains[u] -= 1
    slots.chains[v] -= 1
    slots.left[flow] -= 1


@bare
def give_back(slots: Slots, flow: int, subband: int, u: int, v: int) -> None:
    """Undo :func:`take`."""
    slots.free[u, subband] = slots.free[v, subband] = True
    slots.chains[u] += 1
    slots.chains[v] += 1
    slots.left[flow] += 1


@kernel
def match(links: LinkTable, slots: Slots) -> IntArray:
    """The round's edges, rising. ``links.order`` tells which are tried first."""
    picked = np.zeros(len(links.order), dtype=np.bool_)
    _greedy(links, slots, picked)
    _augment(links, slots, picked)
    edges = np.empty(len(picked), dtype=np.int64)
    count = 0
    for edge in range(len(picked)):
        if picked[edge]:
            edges[count] = edge
            count += 1
    return edges[:count]


@inner_bare
def _greedy(links: LinkTable, slots: Slots, picked: BoolArray) -> None:
    subbands = slots.free.shape[1]
    for edge in links.order:
        flow = edge // subbands
        subband = edge - flow * subbands
        u, v = links.sender[flow], links.receiver[flow]
        if fits(slots, flow, subband, u, v):
            take(slots, flow, subband, u, v)
            picked[edge] = True


@inner
def _augment(links: LinkTable, slots: Slots, picked: BoolArray) -> None:
    """Exchange one edge for two, weakest first, until no exchange helps.

    Every exchange adds an edge and edges are bounded, so this ends.
    """
    subbands = slots.free.shape[1]
    around = np.empty(len(links.order), dtype=np.int64)
    improved = True
    while improved:
        improved = False
        for place in range(len(links.order) - 1, -1, -1):
            edge = links.order[place]
            if not picked[edge]:
                continue
            flow, subband = edge // subbands, edge % subbands
            u, v = links.sender[flow], links.receiver[flow]
            give_back(slots, flow, subband, u, v)
            count = _edges_around(links, slots, edge, u, v, around)
            first, second = _two_of(links, slots, around[:count])
            picked[edge] = first < 0
            if first < 0:
                take(slots, flow, subband, u, v)
            else:
                picked[first] = picked[second] = improved = True


@inner_bare
def _edges_around(
    links: LinkTable, slots: Slots, edge: int, u: int, v: int, around: IntArray
) -> int:
    """Write the other edges that fit and touch position u or v, best first; count them.

    No edge elsewhere can have become possible, since the matching was maximal before.
    """
    subbands = slots.free.shape[1]
    count = 0
    for end in range(2):
        here = u if end == 0 else v
        for k in range(links.touch_start[here], links.touch_start[here + 1]):
            flow = links.touch[k]
            x, y = links.sender[flow], links.receiver[flow]
            if slots.left[flow] == 0 or slots.chains[x] == 0 or slots.chains[y] == 0:
                continue  # nothing to ask of its subbands: most racks are full by now
            if end == 1 and u in (x, y):  # listed already
                continue
            for subband in range(subbands):
                other = flow * subbands + subband
                if fits(slots, flow, subband, x, y) and other != edge:
                    place = count
                    while place > 0 and links.rank[around[place - 1]] > links.rank[other]:
                        around[place] = around[place - 1]
                        place -= 1
                    around[place] = other
                    count += 1
    return count


@inner_bare
def _two_of(links: LinkTable, slots: Slots, around: IntArray) -> tuple[int, int]:
    """Take the first two edges that fit together, or none and return (-1, -1)."""
    subbands = slots.free.shape[1]
    for i in range(len(around) - 1):
        flow, subband = around[i] // subbands, around[i] % subbands
        u, v = links.sender[flow], links.receiver[flow]
        take(slots, flow, subband, u, v)
        for other in around[i + 1 :]:
            f, c = other // subbands, other % subbands
            if fits(slots, f, c, links.sender[f], links.receiver[f]):
                take(slots, f, c, links.sender[f], links.receiver[f])
                return around[i], other
        give_back(slots, flow, subband, u, v)
    return -1, -1


@kernel
def assign(links: LinkTable, slots: Slots, snr_per_w: FloatArray, channel_aware: bool) -> IntArray:
    """The round's edges; a flow that finds no free subband waits for a later round."""
    subbands = slots.free.shape[1]
    edges = np.empty(len(links.sender), dtype=np.int64)
    waiting = slots.left > 0
    count = 0
    while True:
        if channel_aware:
            edge = _most_constrained(links, slots, snr_per_w, waiting)
        else:
            edge = _first_possible(links, slots, waiting)
        if edge < 0:
            return edges[:count]
        flow = edge // subbands
        take(slots, flow, edge % subbands, links.sender[flow], links.receiver[flow])
        waiting[flow] = False  # one subband per transmission: eq:ar_one_subband
        edges[count] = edge
        count += 1


@inner_bare
def _most_constrained(
    links: LinkTable, slots: Slots, snr_per_w: FloatArray, waiting: BoolArray
) -> int:
    """Fewest usable subbands first, then the weakest channel; it takes its best free subband."""
    subbands = slots.free.shape[1]
    chosen, fewest, weakest = -1, subbands + 1, np.inf
    for flow in range(len(waiting)):
        if not waiting[flow]:
            continue
        usable, best, strongest = 0, -1, -1.0
        for subband in range(subbands):
            if fits(slots, flow, subband, links.sender[flow], links.receiver[flow]):
                usable += 1
                if snr_per_w[flow, subband] > strongest:
                    best, strongest = subband, snr_per_w[flow, subband]
        if best < 0:
            waiting[flow] = False  # resources are only taken while a round is formed
        elif usable < fewest or (usable == fewest and strongest < weakest):
            chosen, fewest, weakest = flow * subbands + best, usable, strongest
    return chosen


@inner_bare
def _first_possible(links: LinkTable, slots: Slots, waiting: BoolArray) -> int:
    """Blind to gains: the first flow that fits anywhere, on the first subband that is free."""
    subbands: int = slots.free.shape[1]
    for flow in range(len(waiting)):
        if not waiting[flow]:
            continue
        for subband in range(subbands):
            if fits(slots, flow, subband, links.sender[flow], links.receiver[flow]):
                return flow * subbands + subband
        waiting[flow] = False
    return -1
