"""Random small networks and batches, and a driver that plays the part of the THz executor."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tests.network.strategies import any_network, small_buffers
from tests.optical.networks import ring_network
from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE, THZ
from thzsync.network import Network
from thzsync.optical import Background, OpticalFabric
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import JOIN, READY, TIMER


@dataclass(frozen=True)
class Case:
    """One random experiment."""

    network: Network
    batch: ChunkBatch
    background: Background | None
    key: int
    external_ps: int


@st.composite
def networks(draw: st.DrawFn) -> Network:
    rings = draw(st.integers(1, 3))
    racks = draw(st.integers(max(2, rings), 7))
    ring_of_rack = [*range(rings), *(draw(st.integers(0, rings - 1)) for _ in range(racks - rings))]
    packet = draw(st.sampled_from([64, 100, 1000]))

    def room(least: int, most: int) -> int:
        return draw(st.integers(least * packet, most * packet))

    return ring_network(
        ring_of_rack,
        access_bps=draw(st.sampled_from([1e12, 3e11, 7e11])),
        inter_bps=draw(st.sampled_from([1e12, 4e12, 3e11])),
        switch_delay_ps=draw(st.sampled_from([0, 1, 800, 5000])),
        packet_bytes=packet,
        nic_queue_bytes=room(1, 4),
        output_queue_bytes=room(1, 5),
        shared_buffer_bytes=draw(st.sampled_from([room(2, 4), room(4, 12), 60 * packet])),
        rack_reserve=draw(st.sampled_from([0.0, 0.25, 0.5])),
    )


@st.composite
def batches(draw: st.DrawFn, network: Network, kinds: tuple[int, ...]) -> ChunkBatch:
    n = draw(st.integers(1, 24))
    packet, racks = network.packet_bytes, network.racks
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    src = rng.integers(0, racks, n)
    dst = (src + rng.integers(1, racks, n)) % racks
    sizes = rng.choice([1, packet // 2, packet, 2 * packet, 3 * packet + 1, 6 * packet], n)
    edges = draw(st.integers(0, 2 * n)) if n > 1 else 0
    before = rng.integers(0, max(n - 1, 1), edges)
    after = before + 1 + (rng.integers(0, n, edges) % np.maximum(n - 1 - before, 1))
    return ChunkBatch.build(
        rng.choice(kinds, n),
        src,
        dst,
        sizes,
        2 * src + rng.integers(0, 2, n),
        before=before,
        after=after,
        release_ps=rng.integers(0, 100_000, n),
        notify=rng.integers(0, 2, n).astype(bool),
    )


@st.composite
def cases(draw: st.DrawFn, loads: tuple[float, ...] = (0.0, 0.3, 0.8)) -> Case:
    network = draw(st.one_of(networks(), any_network(small_buffers())))
    load = draw(st.sampled_from(loads))
    burst = draw(st.sampled_from([network.packet_bytes, 2 * network.packet_bytes + 7]))
    return Case(
        network=network,
        batch=draw(batches(network, (FIBRE, FIBRE, FIBRE, THZ, TIMER, JOIN))),
        background=Background(load, burst) if load else None,
        key=draw(st.integers(0, 2**62)),
        external_ps=draw(st.sampled_from([0, 1000, 7777])),
    )


def play(case: Case, until_ps: int, *, trains: bool = True, step_ps: int = 0) -> OpticalFabric:
    """Run a case; external nodes finish a fixed time after they are reported ready."""
    fabric = OpticalFabric(case.network, case.background, case.key, trains=trains, trace=True)
    base = fabric.submit(case.batch, 0)
    assert base == 0
    due: list[tuple[int, int, int]] = []
    order = 0
    while True:
        target = min(until_ps, due[0][0] if due else until_ps)
        if step_ps:
            target = min(target, fabric.now_ps + step_ps)
        reports = fabric.advance(target)
        time = reports.at_ps
        for node, what in zip(reports.node, reports.what, strict=True):
            if what == READY:
                heapq.heappush(due, (int(time) + case.external_ps, order, int(node)))
                order += 1
        if len(reports.node):
            continue
        ready = []
        while due and due[0][0] == fabric.now_ps:
            ready.append(heapq.heappop(due)[2])
        if ready:
            fabric.complete(np.array(ready), fabric.now_ps)
        elif fabric.now_ps >= until_ps:
            return fabric


def run_to(fabric: OpticalFabric, until_ps: int = 10**12) -> None:
    """Advance past all reports."""
    while fabric.now_ps < until_ps:
        fabric.advance(until_ps)


def sorted_trace(fabric: OpticalFabric) -> IntArray:
    """Passages ordered by link and start."""
    rows = fabric.packet_trace()
    return rows[np.lexsort((rows[:, 5], rows[:, 0]))]
