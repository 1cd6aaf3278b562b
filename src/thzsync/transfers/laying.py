"""Nodes and their precedence laid out as flat arrays, in one compiled pass each."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.jit import kernel
from thzsync.transfers.precedence import AIR, FIBRE, JOIN, TIMER


@kernel
def rows_of(before: IntArray, after: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Pairs as rows of successors, each in the order of the pairs: row starts and entries."""
    start = np.zeros(count + 1, dtype=np.int64)
    for k in before:
        start[k + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    place, rows = start.copy(), np.empty(len(after), dtype=np.int64)
    for e in range(len(after)):
        rows[place[before[e]]] = after[e]
        place[before[e]] += 1
    return start, rows


@kernel
def lay_out(
    flow: IntArray, size_bytes: IntArray, on_air: BoolArray, sooner: IntArray, later: IntArray,
    src: IntArray, dst: IntArray, timer_of_flow: IntArray, timers: int,
) -> tuple[IntArray, IntArray, IntArray]:  # fmt: skip
    """Columns (kind, src, dst, bytes, flow) of an event's nodes, and their successors."""
    nodes = len(flow)
    join = nodes + timers
    columns = np.zeros((5, join + 1), dtype=np.int64)
    gated = 0
    for n in range(nodes):
        f = flow[n]
        columns[0, n] = AIR if on_air[n] else FIBRE
        columns[1, n], columns[2, n] = src[f], dst[f]
        columns[3, n], columns[4, n] = size_bytes[n], f
        gated += timer_of_flow[f] >= 0
    for n in range(nodes, join):
        columns[0, n] = TIMER
    columns[0, join] = JOIN
    edges = len(sooner)
    before = np.empty(edges + gated + nodes, dtype=np.int64)
    after = np.empty(edges + gated + nodes, dtype=np.int64)
    for e in range(edges):
        before[e], after[e] = sooner[e], later[e]
    for n in range(nodes):
        if timer_of_flow[flow[n]] >= 0:
            before[edges], after[edges] = nodes + timer_of_flow[flow[n]], n
            edges += 1
    for n in range(nodes):
        before[edges + n], after[edges + n] = n, join
    start, rows = rows_of(before, after, join + 1)
    return columns, start, rows
