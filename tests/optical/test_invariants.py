"""What must hold in every run, checked on random ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.network.strategies import any_network
from tests.optical.cases import Case, cases, networks, play, run_to, sorted_trace
from tests.optical.networks import ring_network
from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE
from thzsync.network import Buffers, Network
from thzsync.optical import Background, FlowFabric, OpticalFabric
from thzsync.transfers.batch import ChunkBatch

LINK, NODE, LEFT, BYTES, READY, START, END = range(7)
MODEST = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def peak(joins: IntArray, leaves: IntArray, sizes: IntArray) -> int:
    """Most bytes held at once; at equal times leaving comes first."""
    if len(joins) == 0:
        return 0
    times = np.concatenate((leaves, joins))
    change = np.concatenate((-sizes, sizes))
    order = np.argsort(times, kind="stable")
    return int(np.cumsum(change[order]).max())


def check_trace(case: Case, rows: IntArray, complete: bool) -> None:
    net = case.network
    for link in np.unique(rows[:, LINK]):
        own = rows[rows[:, LINK] == link]
        # one packet at a time, in the order of joining, never before it may start
        assert (own[1:, START] >= own[:-1, END]).all()
        assert (np.diff(own[:, READY]) >= 0).all()
        assert (own[:, START] >= own[:, READY]).all()
        busy = (own[:, END] - own[:, START]).sum()
        assert busy <= own[-1, END] - own[0, START]
        expected = [net.service_ps(int(link), int(b)) for b in own[:, BYTES]]
        np.testing.assert_array_equal(own[:, END] - own[:, START], expected)
    for node in np.unique(rows[rows[:, NODE] >= 0, NODE]):
        batch = case.batch
        by = int(node) if net.sprayed else int(batch.flow[node])
        path = net.path(int(batch.src[node]), int(batch.dst[node]), by)
        own = rows[rows[:, NODE] == node]
        assert set(own[:, LINK]) <= set(path)
        for link in path:
            left = own[own[:, LINK] == link, LEFT]
            assert (np.diff(left) < 0).all()  # in order, each packet once
            if complete:
                sent = own[own[:, LINK] == link, BYTES].sum()
                assert sent == case.batch.size_bytes[node]


def check_buffers(net: Network, rows: IntArray) -> None:
    """Foreground only: room is held from the start on the link before to the end of service."""
    held: dict[int, list[tuple[int, int, int]]] = {}
    sent: dict[tuple[int, int], list[IntArray]] = {}
    for row in rows:
        sent.setdefault((row[NODE], row[LEFT]), []).append(row)
    for way in sent.values():
        way.sort(key=lambda row: int(row[START]))
        for before, row in zip([None, *way], way, strict=False):
            reserved = row[READY] if before is None else before[START]
            held.setdefault(int(row[LINK]), []).append((reserved, row[END], row[BYTES]))
    pools: dict[int, list[IntArray]] = {}
    for link, spans in held.items():
        table, rises = np.array(spans), net.from_switch[link] < 0
        limit = net.buffers.nic_queue_bytes if rises else net.buffers.output_queue_bytes
        assert peak(*table.T) <= limit
        pool = int(net.pools.of_link[link])
        while pool >= 0:
            pools.setdefault(pool, []).append(table)
            pool = int(net.pools.parent[pool])
    for pool, tables in pools.items():
        assert peak(*np.concatenate(tables).T) <= net.pools.limit_bytes[pool]


@MODEST
@given(cases(loads=(0.0,)))
def test_packets_arrive_once_and_in_order_and_buffers_hold(case: Case) -> None:
    fabric = play(case, 10**8)
    assert (fabric.finished(0, len(case.batch)).arrival_ps >= 0).all()
    rows = sorted_trace(fabric)
    check_trace(case, rows, complete=True)
    check_buffers(case.network, rows)


@MODEST
@given(cases(loads=(0.3, 0.8)))
def test_background_keeps_links_in_order_too(case: Case) -> None:
    check_trace(case, sorted_trace(play(case, 400_000)), complete=False)


@MODEST
@given(cases(), st.integers(5_000, 60_000))
def test_trains_and_pauses_change_nothing(case: Case, step_ps: int) -> None:
    want = play(case, 400_000)
    for got in (play(case, 400_000, trains=False), play(case, 400_000, step_ps=step_ps)):
        np.testing.assert_array_equal(sorted_trace(got), sorted_trace(want))
        for a, b in zip(got.finished(0, len(case.batch)), want.finished(0, len(case.batch)),
                        strict=True):  # fmt: skip
            np.testing.assert_array_equal(a, b)


@MODEST
@given(networks(), st.integers(0, 1000))
def test_a_link_rests_only_when_it_has_nothing_to_send_or_no_room(net: Network, seed: int) -> None:
    """Work conservation where room cannot lack: one sender, queues as large as the flow."""
    size = 7 * net.packet_bytes
    roomy = ring_network(
        net.leaf_of_rack, packet_bytes=net.packet_bytes, switch_delay_ps=net.switch_delay_ps,
        nic_queue_bytes=size, output_queue_bytes=8 * size, shared_buffer_bytes=99 * size,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    src = np.arange(net.racks)
    dst = (src + rng.integers(1, net.racks, net.racks)) % net.racks
    fabric = OpticalFabric(roomy, trace=True)
    fabric.submit(ChunkBatch.build(FIBRE, src, dst, size, src), 0)
    run_to(fabric)
    rows = sorted_trace(fabric)
    for link in np.unique(rows[:, LINK]):
        own = rows[rows[:, LINK] == link]
        np.testing.assert_array_equal(own[1:, START], np.maximum(own[1:, READY], own[:-1, END]))


@MODEST
@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 10_000), st.booleans())
def test_switches_that_flood_each_other_never_deadlock_on_one_packet_buffers(
    rings: int, lanes: int, seed: int, background: bool
) -> None:
    packet = 100
    racks = rings * lanes
    net = ring_network(
        np.arange(racks) // lanes, packet_bytes=packet, nic_queue_bytes=packet,
        output_queue_bytes=packet, shared_buffer_bytes=2 * packet, rack_reserve=0.0,
        access_bps=8e12, inter_bps=8e12, switch_delay_ps=10,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(racks), 4)
    # every chunk crosses rings, so that every switch is full of traffic for the others
    dst = (src + lanes * rng.integers(1, rings, len(src))) % racks
    batch = ChunkBatch.build(
        FIBRE, src, dst, rng.integers(1, 9 * packet, len(src)), np.arange(len(src))
    )
    fabric = OpticalFabric(net, Background(0.2, 2 * packet) if background else None, seed)
    fabric.submit(batch, 0)
    run_to(fabric, 2 * 10**6)
    assert (fabric.finished(0, len(batch)).arrival_ps >= 0).all()
    sent, noise = fabric.link_bytes()
    assert sent[:racks].sum() == batch.size_bytes.sum()
    assert (noise.sum() > 0) == background


TIGHT = Buffers(
    switch_delay_ps=10,
    packet_bytes=100,
    nic_queue_bytes=100,
    output_queue_bytes=100,
    shared_buffer_bytes=800,
    rack_reserve=0.0,
)


@MODEST
@given(any_network(st.just(TIGHT)), st.integers(0, 10_000), st.booleans())
def test_no_network_deadlocks_on_one_packet_queues(
    net: Network, seed: int, background: bool
) -> None:
    net = replace(net, delay_ps=np.zeros_like(net.delay_ps))  # a queue holds what is on its wire
    rng = np.random.default_rng(seed)
    src = np.repeat(np.arange(net.racks), 6)
    dst = (src + rng.integers(1, net.racks, len(src))) % net.racks
    size = rng.integers(1, 900, len(src))
    for fabric in (
        OpticalFabric(net, Background(0.2, 200) if background else None, seed),
        FlowFabric(net, Background(0.2, 200) if background else None, seed),
    ):
        fabric.submit(ChunkBatch.build(FIBRE, src, dst, size, np.arange(len(src))), 0)
        run_to(fabric, 4 * 10**6)
        assert (fabric.finished(0, len(src)).arrival_ps >= 0).all()
        sent, _ = fabric.link_bytes()
        assert sent[net.uplinks].sum() == size.sum()
