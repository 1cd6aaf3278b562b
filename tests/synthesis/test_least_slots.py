"""Small cases against an integer program: how many slots the best schedule would need.

With equal gains every chunk takes the same time on one subband, so a schedule is a table of slots.
HiGHS finds the shortest table that keeps precedence, half duplex and one chunk per rack and
subband; the disciplines must come near it without searching.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

from tests.wireless.worlds import CHUNK, channel_of, even_gains
from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer
from thzsync.execution.alone import run_collective
from thzsync.scenario import Floor, Scenario, Thz
from thzsync.synthesis import find_method
from thzsync.topology import Topology
from thzsync.transfers import Schedule, TransferGraph

THOROUGH = os.environ.get("THZSYNC_THOROUGH") == "1"


def least_slots(graph: TransferGraph, subbands: int) -> int:
    """The shortest table for a graph's chunks: fewest slots, each with a chunk per (rack, subband).

    Which subband is left open: a rack has as many chunks in a slot as subbands. That is exact where
    the links of a slot are a bipartite graph or there is one subband, and else a lower bound.
    """
    sooner, later = graph.chunk_edges
    chunks = len(graph.chunk_flow)
    src, dst = graph.src[graph.chunk_flow], graph.dst[graph.chunk_flow]
    load = np.bincount(np.concatenate((src, dst)), minlength=int(graph.racks.max()) + 1)
    slots = -(-int(load.max()) // subbands)
    if len(graph.racks) % 2 and subbands == 1:
        slots = max(slots, -(-chunks // (len(graph.racks) // 2)))
    while not _fits(src, dst, sooner, later, slots, subbands):
        slots += 1
    return slots


def _fits(
    src: IntArray, dst: IntArray, sooner: IntArray, later: IntArray, slots: int, subbands: int
) -> bool:
    """Whether there is a table of so many slots: variable chunk * slots + slot is one if sent."""
    chunks, racks = len(src), np.unique(np.concatenate((src, dst)))
    rows = chunks + len(racks) * slots + len(sooner) * slots
    matrix: Any = lil_array((rows, chunks * slots))
    low, high = np.full(rows, -np.inf), np.empty(rows)
    at = np.arange(slots)
    for k in range(chunks):
        matrix[k, k * slots + at] = 1
        low[k] = high[k] = 1
    row = chunks
    for rack in racks:
        mine = np.flatnonzero((src == rack) | (dst == rack))
        for slot in range(slots):
            matrix[row, mine * slots + slot] = 1
            high[row] = subbands
            row += 1
    for a, b in zip(sooner.tolist(), later.tolist(), strict=True):
        for slot in range(slots):  # b by this slot needs a before it
            matrix[row, b * slots + at[: slot + 1]] = 1
            if slot:
                matrix[row, a * slots + at[:slot]] = -1
            high[row] = 0
            row += 1
    result: Any = milp(
        np.zeros(chunks * slots),
        integrality=np.ones(chunks * slots),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), low, high),
    )
    assert result.status in (0, 2), result.message
    return bool(result.status == 0)


def carried_out(kind: str, name: str, demand: Demand, racks: int, subbands: int) -> Schedule:
    thz = Thz(subbands=subbands, round_overhead_s=0.0)
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=16), thz=thz)
    return run_collective(
        demand, np.arange(racks), find_method(kind, name), scenario, Topology(scenario.floor),
        channel_of(even_gains(thz, 16)), np.zeros(racks),
    )  # fmt: skip


def random_a2a(racks: int, seed: int) -> Transfer:
    size = np.random.default_rng(seed).integers(0, 4, (racks, racks)) * CHUNK
    np.fill_diagonal(size, 0)
    src, dst = np.nonzero(size)
    return Transfer.of(src, dst, size[src, dst])


@pytest.mark.parametrize("seed", range(40 if THOROUGH else 5))
def test_sustained_links_need_few_more_slots_than_the_best_table(seed: int) -> None:
    racks = 3 + seed % 3
    demand = random_a2a(racks, seed)
    schedule = carried_out("a2a", "sustained", demand, racks, 1)
    slot_ps = (schedule.end_ps - schedule.start_ps) / schedule.chunks
    assert np.ptp(slot_ps) <= 2  # picoseconds of rounding
    best = least_slots(schedule.plan, 1)
    assert best <= round(schedule.completion_ps / slot_ps.max()) <= 1.25 * best + 1


@pytest.mark.parametrize(
    ("racks", "subbands", "chunks"),
    [(2, 2, 4), (3, 2, 3), (4, 2, 4)]
    + ([(4, 4, 8), (5, 2, 4), (6, 2, 6), (5, 4, 5), (6, 4, 6)] if THOROUGH else []),
)
@pytest.mark.parametrize("method", ["path", "streamed"])
def test_a_pipeline_needs_few_more_rounds_than_the_best_table_of_its_route(
    method: str, racks: int, subbands: int, chunks: int
) -> None:
    schedule = carried_out("allreduce", method, Tensor(chunks * CHUNK), racks, subbands)
    best = least_slots(schedule.plan, subbands)
    assert best <= schedule.rounds <= 1.25 * best + 1
    # No route at all can do with fewer: 2(N - 1) transfers of every chunk, N/2 at a time.
    anybody = 2 * (racks - 1) * chunks / (racks // 2 * subbands)
    assert best >= anybody * (1 - 1e-9) - 1
