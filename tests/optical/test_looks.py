"""Departures that need no event: whoever looks finds what an event each would have left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.optical.cases import Case, batches, networks
from tests.optical.networks import ring_network
from thzsync.arrays import NEVER_PS
from thzsync.carriers import FIBRE
from thzsync.optical import Background, OpticalFabric
from thzsync.optical import layout as c
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import JOIN, TIMER

HORIZON_PS = 400_000
Look = tuple[Any, ...]


@st.composite
def crowded(draw: st.DrawFn) -> Case:
    """Wired batches and much background, in buffers from ample to scarce."""
    network = draw(networks())
    packet = network.packet_bytes
    network = ring_network(
        network.leaf_of_rack,
        access_bps=draw(st.sampled_from([1e12, 3e11])),
        inter_bps=draw(st.sampled_from([1e12, 4e12, 3e11])),
        switch_delay_ps=network.switch_delay_ps,
        packet_bytes=packet,
        nic_queue_bytes=4 * packet,
        output_queue_bytes=packet * draw(st.sampled_from([2, 5, 12, 40])),
        shared_buffer_bytes=packet * draw(st.sampled_from([6, 20, 60, 400])),
        rack_reserve=0.25,
    )
    burst = draw(st.sampled_from([packet // 2, packet, 2 * packet + 7, 4 * packet]))
    return Case(
        network=network,
        batch=draw(batches(network, (FIBRE, FIBRE, FIBRE, TIMER, JOIN))),
        background=Background(draw(st.sampled_from([0.1, 0.4, 0.8])), burst),
        key=draw(st.integers(0, 2**62)),
        external_ps=0,
    )


def looks(case: Case, step_ps: int, changes: list[tuple[int, float]], trains: bool) -> list[Look]:
    """What is seen at every pause: queues, buffers, bytes carried; at the end, all times."""
    fabric = OpticalFabric(case.network, case.background, case.key, trains=trains)
    fabric.submit(case.batch, 0)
    racks = np.arange(case.network.racks)
    outputs = case.network.outputs
    seen: list[Look] = []
    for pause, at_ps in enumerate(range(step_ps, HORIZON_PS, step_ps)):
        while fabric.now_ps < at_ps:
            fabric.advance(at_ps)
        queued, full = fabric.occupancy(racks, np.roll(racks, 1))
        carried = fabric.link_bytes()
        hops = fabric.packet_hops
        seen.append((queued.tolist(), full.tolist(), *(x.tolist() for x in carried), hops))
        if pause < len(changes):
            which, share = changes[pause]
            link = int(outputs[which % len(outputs)])
            fabric.set_rate(link, share * int(case.network.rate_bps[link]), fabric.now_ps)
    seen.append(tuple(times.tolist() for times in fabric.finished(0, len(case.batch))))
    return seen


def assert_same(case: Case, step_ps: int, changes: list[tuple[int, float]]) -> None:
    passed = looks(case, step_ps, changes, trains=True)
    one_by_one = looks(case, step_ps, changes, trains=False)
    for mine, other in zip(passed, one_by_one, strict=True):
        assert mine == other


STEPS = st.integers(3_000, 90_000)
CHANGES = st.lists(st.tuples(st.integers(0, 50), st.sampled_from([0.0, 0.5, 1.0])), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowded(), STEPS, CHANGES)
def test_departures_without_events_change_nothing(
    case: Case, step_ps: int, changes: list[tuple[int, float]]
) -> None:
    assert_same(case, step_ps, changes)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowded(), STEPS, CHANGES)
def test_departures_without_events_change_nothing_at_length(
    case: Case, step_ps: int, changes: list[tuple[int, float]]
) -> None:
    assert_same(case, step_ps, changes)


def lonely() -> OpticalFabric:
    network = ring_network(np.arange(16) // 8, packet_bytes=4096)
    return OpticalFabric(network, Background(0.15, 16384), 3)


def test_free_rows_are_counted_and_no_queue_is_too_full() -> None:
    fabric = lonely()
    src = np.arange(16)
    fabric.submit(ChunkBatch.build(FIBRE, src, (src + 9) % 16, 10**6, src), 0)
    for at_ps in range(10**7, 10**9, 10**7):
        fabric.advance(at_ps)
        st_ = fabric._st
        free, p = 0, int(st_.ctl[c.FREE])
        while p >= 0 and free < len(st_.pkt):
            free, p = free + 1, int(st_.pkt[p, c.P_NEXT])
        assert free == st_.ctl[c.SPARE]
        assert (st_.link[:, c.OCC] <= st_.link[:, c.LIMIT]).all()


def test_background_that_meets_nobody_leaves_links_without_events() -> None:
    fabric = lonely()
    fabric.advance(10**9)
    between = 2 * 16 + np.array([1, 2])
    assert fabric.link_bytes().background[between].min() > 0
    assert (fabric._st.key[between] == NEVER_PS).all()


def test_a_chunk_gives_a_lazy_link_its_events_back() -> None:
    fabric = lonely()
    fabric.advance(10**9)
    assert fabric._st.link[33, c.STATE] == c.LAZY
    fabric.submit(ChunkBatch.build(FIBRE, [0], [9], 10**6, [0]), fabric.now_ps)
    fabric.advance(fabric.now_ps + 10**7)
    assert fabric._st.link[33, c.STATE] != c.LAZY
