"""AllReduce rounds: every ready transmission takes one subband (eq:ar_round_problem)."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.jit import inner_bare, kernel
from thzsync.wireless.matching import fits, take
from thzsync.wireless.state import LinkTable, Slots


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
