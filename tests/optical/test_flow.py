"""The flow fabric: closed forms, and the packet fabric as its yardstick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.optical.networks import ring_network
from thzsync.carriers import FIBRE, THZ
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.optical import Background, Fabric, FlowFabric, OpticalFabric
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import DONE, JOIN, READY

PACKET = 65_536
CHUNK = 8 * PACKET
PACKET_PS = 8 * PACKET * 10  # at 100 Gbit/s
DELAY_PS = 500_000
LONG_PS = 10**13


def network(rings: int = 1, racks: int = 8, **keys: Any) -> Network:
    return ring_network(np.repeat(np.arange(rings), racks), **keys)


def flows(*transfers: tuple[int, int, int], chunk: int = CHUNK) -> ChunkBatch:
    """Flows (source, target, chunks) and a join behind all of them."""
    src, dst, flow = [], [], []
    for number, (i, j, chunks) in enumerate(transfers):
        src += [i] * chunks
        dst += [j] * chunks
        flow += [number] * chunks
    return batch(src, dst, flow, chunk)


def batch(
    src: list[int],
    dst: list[int],
    flow: list[int],
    size: int,
    edges: tuple[tuple[int, int], ...] = (),
) -> ChunkBatch:
    n = len(src)
    return ChunkBatch.build(
        [FIBRE] * n + [JOIN],
        [*src, 0],
        [*dst, 0],
        [size] * n + [0],
        [*flow, 0],
        before=[*range(n), *(a for a, _ in edges)],
        after=[n] * n + [b for _, b in edges],
        notify=[False] * n + [True],
    )


def completion_ps(fabric: Fabric, work: ChunkBatch) -> int:
    fabric.submit(work, 0)
    while not len(fabric.advance(LONG_PS).node):
        assert fabric.now_ps < LONG_PS
    return fabric.now_ps


def test_a_transfer_alone_takes_as_long_as_its_packets() -> None:
    for chunks in (1, 5, 200):
        for target, hops in ((1, 2), (9, 3)):
            took = completion_ps(FlowFabric(network(2)), flows((0, target, chunks)))
            least = 8 * chunks * PACKET_PS + (hops - 1) * (PACKET_PS + DELAY_PS)
            assert took == least


def test_k_transfers_share_a_fibre_evenly() -> None:
    work = flows(*((i, 8 + i, 64) for i in range(4)))
    fabric = FlowFabric(network(2))
    took = completion_ps(fabric, work)
    assert took == 4 * 64 * 8 * PACKET_PS + 2 * (PACKET_PS + DELAY_PS)
    ends = fabric.finished(0, 256).arrival_ps.reshape(4, 64)[:, -1]
    assert ends.min() > 0.97 * took


def test_flows_of_unlike_trains_get_equal_shares_of_a_rack() -> None:
    """A flow of 400 chunks moves in larger trains than one of 40, and gets no more for it."""
    fabric = FlowFabric(network())
    completion_ps(fabric, flows((0, 1, 400), (0, 2, 40)))
    short = fabric.finished(400, 40).arrival_ps.max()
    assert short == pytest.approx(2 * 40 * 8 * PACKET_PS, rel=0.1)


def test_a_chain_of_chunks_is_a_pipeline() -> None:
    """Chunk k leaves rack r when it has arrived there: all but the first hop overlap."""
    hops, chunks = 5, 40
    src = [r for r in range(hops) for _ in range(chunks)]
    edges = tuple(
        (r * chunks + k, (r + 1) * chunks + k) for r in range(hops - 1) for k in range(chunks)
    )
    work = batch(src, [r + 1 for r in src], src, CHUNK, edges)
    took = completion_ps(FlowFabric(network()), work)
    assert took == (chunks + hops - 1) * 8 * PACKET_PS + hops * (PACKET_PS + DELAY_PS)


@pytest.mark.parametrize("load", [0.1, 0.3])
def test_background_takes_its_mean_share(load: float) -> None:
    fabric = FlowFabric(network(), Background(load, 4 * PACKET), 3)
    took = completion_ps(fabric, flows((0, 1, 4000)))
    assert 4000 * 8 * PACKET_PS / took == pytest.approx(1 - load, rel=0.03)


def test_idle_links_carry_the_bursts_of_the_packet_fabric() -> None:
    part = network(2, 3)
    for at_ps in (10**9, 10**10, 3 * 10**10):
        totals = []
        for fabric in (
            OpticalFabric(part, Background(0.2), 9),
            FlowFabric(part, Background(0.2), 9),
        ):
            fabric.advance(at_ps)
            totals.append(fabric.link_bytes().background)
        assert np.abs(totals[0] - totals[1]).max() <= PACKET


HEAVY = (
    (flows((0, 1, 200)), 1),
    (flows((0, 9, 200)), 2),
    (flows(*((i, 0, 60) for i in range(1, 8))), 1),
    (flows(*((i, 8 + i, 60) for i in range(8))), 2),
)
"""Works, and rings: a flow through one switch and through two, an incast, lanes on one fibre."""


@pytest.mark.parametrize("load", [0.5, 0.8])
@pytest.mark.parametrize(("work", "rings"), HEAVY)
def test_trains_of_a_packet_share_full_queues_with_background_as_packets_do(
    work: ChunkBatch, rings: int, load: float
) -> None:
    """Bursts and links take turns for room, however long a line of bursts has become."""
    for key in range(4):
        packet, flow = (
            completion_ps(fabric, work)
            for fabric in (
                OpticalFabric(network(rings), Background(load), key),
                FlowFabric(network(rings), Background(load), key, pieces=2**16),
            )
        )
        assert flow == pytest.approx(packet, rel=0.003)


@pytest.mark.parametrize(("target", "turns"), [(1, 2), (9, 3)])
def test_a_flow_gets_its_turns_where_bursts_want_more(target: int, turns: int) -> None:
    """Every second turn at one switch. Behind another, bursts go between two trains of the flow.

    So while one of them is sent, the bursts of the second switch have asked again before the flow.
    """
    chunks = 4000
    fabric = FlowFabric(network(2), Background(0.8), 3)
    took = completion_ps(fabric, flows((0, target, chunks)))
    assert took == pytest.approx(turns * chunks * 8 * PACKET_PS, rel=0.02)


def random_work(rng: np.random.Generator, racks: int) -> ChunkBatch:
    """Some flows; in every second case each waits chunk by chunk for one before it."""
    count, chunks = int(rng.integers(2, 9)), int(rng.integers(20, 60))
    src = rng.integers(0, racks, count)
    dst = (src + rng.integers(1, racks, count)) % racks
    edges = []
    if rng.random() < 0.5:
        for flow in range(1, count):
            src[flow] = dst[before := int(rng.integers(flow))]
            dst[flow] = (src[flow] + rng.integers(1, racks)) % racks
            edges += [(before * chunks + k, flow * chunks + k) for k in range(chunks)]
    owner = np.repeat(np.arange(count), chunks)
    return batch(src[owner].tolist(), dst[owner].tolist(), owner.tolist(), CHUNK, tuple(edges))


@pytest.mark.parametrize("load", [0.0, 0.15])
def test_random_cases_are_near_packets(load: float) -> None:
    """Single cases within 6 %, their mean within 1 %."""
    rng = np.random.default_rng(5)
    ratios = []
    for key in range(25):
        part, work = network(2, 4), random_work(rng, 8)
        took = [
            completion_ps(make(part, Background(load), key), work)
            for make in (OpticalFabric, FlowFabric)
        ]
        ratios.append(took[1] / took[0])
    assert np.abs(np.array(ratios) - 1).max() < 0.06
    assert abs(np.mean(ratios) - 1) < 0.01


def test_short_buffers_neither_lose_nor_block_anything() -> None:
    part = network(
        3, 3, nic_queue_bytes=PACKET, output_queue_bytes=2 * PACKET, shared_buffer_bytes=4 * PACKET
    )
    pairs = [(i, j, 6) for i in range(9) for j in range(9) if i != j]
    fabric = FlowFabric(part, Background(0.5, 4 * PACKET), 1)
    work = flows(*pairs)
    completion_ps(fabric, work)
    expected = np.zeros(part.links, dtype=np.int64)
    part.add_load(expected, work.src[:-1], work.dst[:-1], work.size_bytes[:-1])
    assert (fabric.link_bytes().foreground == expected).all()


def test_no_link_carries_more_than_its_rate() -> None:
    part = network()
    fabric = FlowFabric(part, Background(0.3), 4)
    fabric.submit(flows(*((i, 0, 80) for i in range(1, 8))), 0)
    seen = np.zeros(part.links)
    for at_ps in range(10**9, 20 * 10**9, 10**9):
        while fabric.now_ps < at_ps:
            fabric.advance(at_ps)
        total = np.sum(fabric.link_bytes(), axis=0)
        assert (total - seen).max() <= 12.5e9 * 1e-3 + 2
        seen = total


def test_a_cut_fibre_holds_its_trains_back_until_it_is_mended() -> None:
    part, work = network(), flows((0, 1, 32))
    fabric = FlowFabric(part)
    fabric.submit(work, 0)
    fabric.advance(10**8)
    fabric.set_rate(8 + 1, 0, fabric.now_ps)
    fabric.advance(10**10)
    fabric.set_rate(8 + 1, 100e9, fabric.now_ps)
    while not len(fabric.advance(LONG_PS).node):
        pass
    alone = completion_ps(FlowFabric(part), work)
    train_ps = 8 * PACKET_PS
    assert abs(fabric.now_ps - (alone + 10**10 - 10**8)) <= 2 * train_ps


def test_a_slow_fibre_is_slow() -> None:
    part, work = network(), flows((0, 1, 64))
    fabric = FlowFabric(part)
    fabric.set_rate(0, 25e9, 0)
    took = completion_ps(fabric, work)
    assert took == pytest.approx(4 * 64 * 8 * PACKET_PS, rel=0.01)


def test_chunks_that_have_not_left_can_go_to_the_air() -> None:
    part = network()
    fabric = FlowFabric(part)
    base = fabric.submit(flows((0, 1, 100)), 0)
    fabric.advance(10**8)
    moved = fabric.move(np.arange(base, base + 100), FIBRE, THZ, fabric.now_ps)
    assert 0 < moved.sum() < 100
    reports = fabric.advance(fabric.now_ps)
    assert (reports.what == READY).all()
    assert set(reports.node) == set(base + np.flatnonzero(moved))
    fabric.move(reports.node[:10], THZ, FIBRE, fabric.now_ps)
    fabric.complete(reports.node[10:], fabric.now_ps)
    done = fabric.advance(LONG_PS)
    assert done.what.tolist() == [DONE]
    sent = 100 - int(moved.sum()) + 10
    assert fabric.link_bytes().foreground[0] == sent * CHUNK


@pytest.mark.parametrize("fabric", [FlowFabric(network()), OpticalFabric(network())])
def test_chunks_can_go_to_the_air_before_anything_has_moved(fabric: Fabric) -> None:
    base = fabric.submit(flows((0, 1, 10)), 0)
    chunks = np.arange(base, base + 10)
    assert fabric.move(chunks, FIBRE, THZ, 0).all()
    assert fabric.advance(0).node.tolist() == chunks.tolist()
    fabric.complete(chunks, 0)
    assert fabric.advance(LONG_PS).what.tolist() == [DONE]
    assert fabric.link_bytes().foreground.sum() == 0


def test_a_waiting_rack_whose_chunk_goes_to_the_air_leaves_the_line() -> None:
    """Everybody sends to rack 0 until the queue is full; who waits there may still go."""
    fabric = FlowFabric(network())
    base = fabric.submit(flows(*((i, 0, 40) for i in range(1, 8))), 0)
    fabric.advance(2 * 10**9)
    moved = fabric.move(np.arange(base, base + 280), FIBRE, THZ, fabric.now_ps)
    reports = fabric.advance(fabric.now_ps)
    fabric.complete(reports.node, fabric.now_ps)
    assert fabric.advance(LONG_PS).what.tolist() == [DONE]
    assert fabric.link_bytes().foreground[8] == (280 - int(moved.sum())) * CHUNK


def test_same_key_same_numbers_and_another_key_others() -> None:
    work = flows(*((i, (i + 3) % 8, 100) for i in range(8)))
    arrivals = []
    for key in (1, 1, 2):
        fabric = FlowFabric(network(), Background(0.2), key)
        completion_ps(fabric, work)
        arrivals.append(fabric.finished(0, 800).arrival_ps)
    assert (arrivals[0] == arrivals[1]).all()
    assert (arrivals[0] != arrivals[2]).any()


def test_looking_changes_nothing() -> None:
    work = flows(*((i, 0, 60) for i in range(1, 8)))
    watched = FlowFabric(network(), None)
    watched.submit(work, 0)
    while not len(watched.advance(watched.now_ps + 10**8).node):
        watched.link_bytes()
        watched.occupancy([1], [0])
    assert watched.now_ps == completion_ps(FlowFabric(network()), work)


def test_occupancy_counts_what_waits_on_the_path() -> None:
    fabric = FlowFabric(network())
    fabric.submit(flows(*((i, 0, 60) for i in range(1, 8))), 0)
    fabric.advance(2 * 10**9)
    queued, fraction = fabric.occupancy([1, 2], [0, 3])
    assert queued[0] > queued[1] > 0
    assert 0 < fraction[0] <= 1


def test_cost_does_not_grow_with_bytes() -> None:
    """Trains that links start, for a flow in chunks ten times as large."""
    started = []
    for chunk in (CHUNK, 10 * CHUNK):
        fabric = FlowFabric(network(nic_queue_bytes=2**24, output_queue_bytes=2**24))
        completion_ps(fabric, flows((0, 1, 100), chunk=chunk))
        started.append(fabric.trains_started)
    assert started[1] <= 1.2 * started[0]


def test_background_is_cut_no_finer_than_trains() -> None:
    """A flow of ten times the bytes meets ten times the bursts, in pieces ten times as large."""
    started = []
    for chunk in (CHUNK, 10 * CHUNK):
        part = network(nic_queue_bytes=2**24, output_queue_bytes=2**24)
        fabric = FlowFabric(part, Background(0.8), 1)
        completion_ps(fabric, flows((0, 1, 100), chunk=chunk))
        started.append(fabric.trains_started)
    assert started[1] <= 1.2 * started[0]


def test_what_it_cannot_do_it_refuses() -> None:
    fabric = FlowFabric(network())
    with pytest.raises(ThzSyncError, match="link 99"):
        fabric.set_rate(99, 1e9, 0)
    with pytest.raises(ThzSyncError, match=r"-1\.0"):
        fabric.set_rate(1, -1.0, 0)
    fabric.advance(10)
    with pytest.raises(ThzSyncError, match=r"\b10\b"):
        fabric.advance(5)
    fabric.submit(flows((0, 1, 1)), 10)
    with pytest.raises(ThzSyncError, match="node 0"):
        fabric.complete(np.array([0]), 10)


def mixed(fabric: Fabric) -> Fabric:
    """Two chunks of the air, one that waits for the first, a chunk of the fibre, and a join."""
    fabric.submit(
        ChunkBatch.build(
            [THZ, THZ, THZ, FIBRE, JOIN], 0, 1, [*[CHUNK] * 4, 0], [0, 1, 0, 2, 0],
            before=[0, 0, 1, 2, 3], after=[2, 4, 4, 4, 4], notify=[False] * 4 + [True],
        ),
        0,
    )  # fmt: skip
    return fabric


def ending(fabric: Fabric) -> list[list[int]]:
    """What is reported, and when all arrives, if the first chunk takes the fibre."""
    fabric.move(np.array([0]), THZ, FIBRE, 0)
    fabric.complete(np.array([1]), 0)
    seen: list[list[int]] = []
    while not seen or seen[-1][-1] != DONE:
        reports = fabric.advance(LONG_PS)
        assert len(reports.node), "nothing happens any more"
        seen.append([reports.at_ps, *reports.node.tolist(), *reports.what.tolist()])
        fabric.complete(reports.node[reports.what == READY], reports.at_ps)
    return [*seen, fabric.finished(0, 5).arrival_ps.tolist()]


@pytest.mark.parametrize("make", [FlowFabric, OpticalFabric])
@pytest.mark.parametrize("door", [(), (THZ, FIBRE), (FIBRE, THZ)])
def test_a_refused_call_changes_nothing(make: Any, door: tuple[int, ...]) -> None:
    """A chunk that cannot, a chunk named twice, another clock: those beside it stay, too."""
    whole, refused = mixed(make(network())), mixed(make(network()))
    for fabric in (whole, refused):
        assert fabric.advance(0).node.tolist() == [0, 1]
    calls = [([0, 1, 3], 0), ([1, 0, 1], 0), ([0, 1], 5)]
    name = "move" if door else "complete"
    for nodes, at_ps in calls if door != (FIBRE, THZ) else calls[-1:]:
        with pytest.raises(ThzSyncError, match=rf"{name}: (node [13] |at_ps is 5)"):
            getattr(refused, name)(np.array(nodes), *door, at_ps)
    assert refused.ledger.owners(0, 4).tolist() == [THZ, THZ, THZ, FIBRE]
    assert ending(refused) == ending(whole)


@pytest.mark.parametrize("make", [FlowFabric, OpticalFabric])
def test_what_cannot_go_to_the_air_is_left_out_and_nothing_goes_twice(make: Any) -> None:
    fabric = mixed(make(network()))
    assert fabric.move(np.array([0, 3, 4, 3]), FIBRE, THZ, 0).tolist() == [
        False,
        True,
        False,
        False,
    ]
    assert fabric.advance(0).node.tolist() == [0, 1, 3]


def test_chunks_of_the_air_release_those_of_the_fibre() -> None:
    work = ChunkBatch.build(
        [THZ, FIBRE, JOIN], [0, 1, 0], [1, 2, 0], [CHUNK, CHUNK, 0], [0, 1, 0],
        before=[0, 1], after=[1, 2], notify=[False, False, True],
    )  # fmt: skip
    fabric = FlowFabric(network())
    fabric.submit(work, 0)
    assert fabric.advance(LONG_PS).what.tolist() == [READY]
    fabric.advance(10**9)
    fabric.complete(np.array([0]), 10**9)
    assert fabric.advance(LONG_PS).what.tolist() == [DONE]
    assert fabric.now_ps == 10**9 + 9 * PACKET_PS + DELAY_PS
