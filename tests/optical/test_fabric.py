"""The Python face: submitting, reports, re-routing, faults, storage, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.optical.cases import run_to
from tests.optical.networks import ring_network
from thzsync.carriers import FIBRE, THZ
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.optical import Background, OpticalFabric, lowering
from thzsync.optical.background import gaps_ps
from thzsync.optical.flow_fabric import FlowFabric
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.pools import Runs
from thzsync.transfers.precedence import DONE, JOIN, READY, TIMER

PACKET = 1000
HOP_PS = 1000  # one packet at one byte per picosecond


def network(rings: list[int], **changes: Any) -> Network:
    settings: dict[str, Any] = {
        "access_bps": 8e12,
        "inter_bps": 8e12,
        "switch_delay_ps": 0,
        "packet_bytes": PACKET,
        "nic_queue_bytes": 4 * PACKET,
        "output_queue_bytes": 4 * PACKET,
        "shared_buffer_bytes": 64 * PACKET,
    }
    return ring_network(rings, **(settings | changes))


def rows(reports: Any) -> list[tuple[int, int, int]]:
    pairs = zip(reports.node.tolist(), reports.what.tolist(), strict=True)
    return [(reports.at_ps, node, what) for node, what in pairs]


def test_a_chain_runs_inside_the_kernel_and_reports_only_what_was_asked() -> None:
    # wired 0 -> timer 1 (released at 5000) -> join 2 (reported) -> wired 3 (reported)
    batch = ChunkBatch.build(
        [FIBRE, TIMER, JOIN, FIBRE], 0, 1, PACKET, [0, 0, 0, 0],
        before=[0, 1, 2], after=[1, 2, 3], release_ps=5000, notify=[False, False, True, True],
    )  # fmt: skip
    fabric = OpticalFabric(network([0, 0]))
    base = fabric.submit(batch, 0)
    assert rows(fabric.advance(10**6)) == [(5000, base + 2, DONE)]
    assert fabric.now_ps == 5000
    assert rows(fabric.advance(10**6)) == [(7000, base + 3, DONE)]
    assert rows(fabric.advance(10**6)) == []
    assert fabric.now_ps == 10**6
    times = fabric.finished(base, 4)
    assert times.arrival_ps.tolist() == [2000, 5000, 5000, 7000]
    assert times.ready_ps.tolist() == [0, 2000, 5000, 5000]
    assert times.start_ps.tolist() == [0, -1, -1, 5000]


def test_chunks_of_one_instant_complete_in_the_order_of_their_links() -> None:
    # chunk 0 (to rack 3) and chunk 2 (to rack 1) arrive at 2000, when chunk 1 joins chunk 0's queue
    batch = ChunkBatch.build(FIBRE, [0, 0, 2], [3, 3, 1], PACKET, [0, 0, 1], notify=True)
    for trains in (True, False):
        fabric = OpticalFabric(network([0, 0, 0, 0]), trains=trains)
        fabric.submit(batch, 0)
        assert rows(fabric.advance(10**6)) == [(2000, 2, DONE), (2000, 0, DONE)]


def test_external_nodes_wait_for_their_carrier() -> None:
    batch = ChunkBatch.build([THZ, FIBRE], 0, 1, PACKET, 0, before=[0], after=[1], notify=True)
    fabric = OpticalFabric(network([0, 0]))
    fabric.submit(batch, 0)
    assert rows(fabric.advance(10**6)) == [(0, 0, READY)]
    fabric.advance(300)
    fabric.complete(np.array([0]), 300)
    assert rows(fabric.advance(10**6)) == [(300, 0, DONE)]
    assert rows(fabric.advance(10**6)) == [(2300, 1, DONE)]
    with pytest.raises(ThzSyncError, match="node 0 "):
        fabric.complete(np.array([0]), fabric.now_ps)


def test_a_batch_may_be_submitted_ahead_of_its_release() -> None:
    fabric = OpticalFabric(network([0, 0]))
    fabric.submit(ChunkBatch.build(FIBRE, 0, 1, PACKET, notify=True), 700)
    assert rows(fabric.advance(10**6)) == [(2700, 0, DONE)]
    with pytest.raises(ThzSyncError, match="ps"):
        fabric.submit(ChunkBatch.build(FIBRE, 0, 1, PACKET), 0)


def test_external_chunks_fall_back_to_fibre() -> None:
    batch = ChunkBatch.build([THZ, THZ], 0, 1, PACKET, 0, before=[0], after=[1])
    fabric = OpticalFabric(network([0, 0]))
    fabric.submit(batch, 0)
    fabric.advance(0)
    fabric.move(np.array([0, 1]), THZ, FIBRE, 0)
    run_to(fabric, 10**6)
    assert fabric.finished(0, 2).arrival_ps.tolist() == [2000, 4000]


def test_chunks_still_in_the_rack_leave_a_dead_fibre() -> None:
    fabric = OpticalFabric(network([0, 0, 0]))
    fabric.submit(ChunkBatch.build(FIBRE, 0, [1, 2, 1, 2], 3 * PACKET, [0, 1, 2, 2]), 0)
    fabric.advance(1500)  # packets of flows 0 and 1 have left or are leaving
    fabric.set_rate(0, 0, 1500)
    accepted = fabric.move(np.arange(4), FIBRE, THZ, 1500)
    assert accepted.tolist() == [False, False, True, True]
    assert not fabric.move(
        np.array([-1, 2**40]), FIBRE, THZ, 1500
    ).any()  # there are no such chunks
    assert rows(fabric.advance(10**6)) == [(1500, 2, READY), (1500, 3, READY)]
    fabric.complete(np.array([2, 3]), 1500)
    run_to(fabric, 10**6)
    assert (fabric.finished(0, 2).arrival_ps == -1).all()  # stuck: their fibre is down
    assert fabric.occupancy(0, 1)[0][0] == 4 * PACKET  # and fill the NIC queue
    fabric.set_rate(0, 8e12, 10**6)
    run_to(fabric, 2 * 10**6)
    assert (fabric.finished(0, 4).arrival_ps > 0).all()


def test_a_waiting_head_that_leaves_the_rack_frees_its_place_in_line() -> None:
    # rack 0 waits for the full queue to rack 2, then its chunk is taken away
    net = network([0, 0, 0, 0], output_queue_bytes=PACKET)
    fabric = OpticalFabric(net)
    fabric.submit(ChunkBatch.build(FIBRE, [1, 0, 0], [2, 2, 3], 3 * PACKET, [0, 1, 2]), 0)
    fabric.set_rate(4 + 2, 0, 0)
    fabric.advance(5000)
    assert fabric.finished(1, 2).arrival_ps.tolist() == [-1, -1]  # blocked behind the head
    assert fabric.move(np.array([1]), FIBRE, THZ, 5000).tolist() == [True]
    run_to(fabric, 10**5)
    # with room for one packet on the way, each of the three takes both hops by itself
    assert fabric.finished(2, 1).arrival_ps[0] == 5000 + 3 * 2 * HOP_PS


@pytest.mark.parametrize("link", [0, 2, 3])
def test_a_slower_link_applies_to_packets_that_start_later(link: int) -> None:
    # link 0 up, 2 + 1 down to rack 1: packet 2 of 3 is in service or next when the rate halves
    fabric = OpticalFabric(network([0, 0]))
    fabric.submit(ChunkBatch.build(FIBRE, 0, 1, 3 * PACKET), 0)
    fabric.advance(1500)
    fabric.set_rate(link, 4e12, 1500)
    run_to(fabric, 10**6)
    # up: ends 1000, 2000, 4000 then one hop. down: 2000 (in service), 4000, 6000
    expected = {0: 5000, 2: 4000, 3: 6000}[link]
    assert fabric.finished(0, 1).arrival_ps[0] == expected


def test_a_down_link_taken_out_and_back_delays_by_the_outage() -> None:
    fabric = OpticalFabric(network([0, 0]))
    fabric.submit(ChunkBatch.build(FIBRE, 0, 1, 3 * PACKET), 0)
    fabric.advance(1500)
    fabric.set_rate(3, 0, 1500)  # packet 1 is in service and finishes at 2000
    fabric.advance(9000)
    assert fabric.link_bytes().foreground[3] == PACKET
    fabric.set_rate(3, 8e12, 9000)
    run_to(fabric, 10**6)
    assert fabric.finished(0, 1).arrival_ps[0] == 11_000


@pytest.mark.parametrize("pair", [(-1, 0), (0, 3), (2**40, 0)])
def test_the_occupancy_of_unknown_racks_is_refused(pair: tuple[int, int]) -> None:
    for fabric in (OpticalFabric(network([0, 0, 0])), FlowFabric(network([0, 0, 0]))):
        with pytest.raises(ThzSyncError, match=r"0\.\.2"):
            fabric.occupancy(*pair)


def test_occupancy_sees_queues_and_shared_buffers_along_the_path() -> None:
    fabric = OpticalFabric(network([0, 0, 1]))
    fabric.submit(ChunkBatch.build(FIBRE, 0, 2, 10 * PACKET), 0)
    fabric.advance(500)
    queued, fraction = fabric.occupancy([0, 0, 1], [2, 1, 0])
    # the NIC holds 4 packets, the first has room reserved on the way to the other switch
    assert queued.tolist() == [5 * PACKET, 4 * PACKET, 0]
    np.testing.assert_allclose(fraction, [1 / 64, 1 / 64, 1 / 64])


def test_memory_follows_what_is_in_flight_not_what_was_sent() -> None:
    fabric = OpticalFabric(network([0, 0, 1, 1]), Background(0.1, PACKET), 3)
    src = np.repeat(np.arange(4), 50)
    batch = ChunkBatch.build(
        FIBRE, src, (src + 1) % 4, 5 * PACKET, src, before=np.arange(199), after=np.arange(1, 200)
    )
    sizes = []
    for _ in range(30):
        base = fabric.submit(batch, fabric.now_ps)
        run_to(fabric, fabric.now_ps + 3 * 10**6)
        fabric.retire(base)
        sizes.append(fabric.state_bytes)
    assert len(set(sizes[2:])) == 1


def test_pools_grow_in_the_middle_of_an_instant_without_a_trace() -> None:
    # 3000 one-byte chunks fit the NIC at once: more packets than the pool starts with
    net = network([0, 0], nic_queue_bytes=10_000)
    fabric = OpticalFabric(net, trace=True)
    n = 3000
    fabric.submit(ChunkBatch.build(FIBRE, 0, 1, 1, np.arange(n)), 0)
    run_to(fabric, 10**7)
    # one byte per picosecond, and the down-link one behind the up-link
    assert fabric.finished(0, n).arrival_ps.tolist() == list(range(2, n + 2))
    assert len(fabric.packet_trace()) == 2 * n


@pytest.mark.parametrize("shared_packets", [90_000, 4000])  # ample, and watched departures
def test_a_burst_larger_than_the_pool_is_carried_whole(shared_packets: int) -> None:
    net = network([0, 0], output_queue_bytes=30_000 * PACKET,
                  shared_buffer_bytes=shared_packets * PACKET)  # fmt: skip
    burst = 3000 * PACKET
    fabric = OpticalFabric(net, Background(0.01, burst), 1)
    horizon = 2 * 10**9
    run_to(fabric, horizon)
    carried = fabric.link_bytes().background
    for link in (2, 3):
        instants = np.cumsum(
            gaps_ps(1, link, 0, 100, Background(0.01, burst).mean_gap_ps(8 * 10**12))
        )
        assert carried[link] == burst * np.count_nonzero(instants + 4 * burst < horizon)


def test_background_does_not_depend_on_the_foreground() -> None:
    net = network([0, 0, 1], output_queue_bytes=400 * PACKET, shared_buffer_bytes=4000 * PACKET)

    def noise(foreground: bool) -> Any:
        fabric = OpticalFabric(net, Background(0.3, 3 * PACKET), 5, trace=True)
        if foreground:
            fabric.submit(ChunkBatch.build(FIBRE, 0, [1, 2], 50 * PACKET, [0, 1]), 0)
        run_to(fabric, 10**6)
        table = fabric.packet_trace()
        table = table[(table[:, 1] < 0) & (table[:, 4] < 9 * 10**5)]
        return table[np.lexsort((table[:, 4], table[:, 0]))][:, [0, 3, 4]]

    np.testing.assert_array_equal(noise(True), noise(False))


@pytest.mark.parametrize("stored", [1, 100, 1000])
def test_looking_less_far_ahead_changes_no_burst(
    stored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floors of a thousand rings keep fewer bursts per link, or memory would end first."""
    net = network([0, 0, 1, 2], output_queue_bytes=400 * PACKET, shared_buffer_bytes=4000 * PACKET)

    def noise() -> Any:
        fabric = OpticalFabric(net, Background(0.3, 3 * PACKET), 5, trace=True)
        fabric.submit(ChunkBatch.build(FIBRE, 0, [1, 2], 50 * PACKET, [0, 1]), 0)
        run_to(fabric, 10**6)
        return fabric.packet_trace()

    far = noise()
    monkeypatch.setattr(lowering, "BURSTS_STORED", stored)
    assert lowering.bursts_ahead(net.links) < 100
    np.testing.assert_array_equal(noise(), far)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"dst": 0}, "flow 7 "),
        ({"dst": 9}, r"flow 7 .*rack 9\b"),
        ({"src": -1}, r"flow 7 .*rack -1\b"),
        ({"size_bytes": 0}, "flow 7 .*size is 0"),
        ({"size_bytes": -5}, "flow 7 .*size is -5"),
    ],
)
def test_a_chunk_that_cannot_run_is_refused_with_its_flow(changes: Any, text: str) -> None:
    fields = {"src": 0, "dst": 1, "size_bytes": 10, "flow": 7} | changes
    fabric = OpticalFabric(network([0, 0]))
    with pytest.raises(ThzSyncError, match=text):
        fabric.submit(ChunkBatch.build(FIBRE, **fields), 0)
    assert rows(fabric.advance(1000)) == []


def test_a_chunk_that_no_buffer_can_pass_is_refused() -> None:
    narrow = network([0, 0], nic_queue_bytes=PACKET // 2)
    with pytest.raises(ThzSyncError, match=r"flow 3 "):
        OpticalFabric(narrow).submit(ChunkBatch.build(FIBRE, 0, 1, PACKET, 3), 0)
    OpticalFabric(narrow).submit(ChunkBatch.build(FIBRE, 0, 1, PACKET // 2, 3), 0)
    shallow = network([0, 1], shared_buffer_bytes=PACKET)
    with pytest.raises(ThzSyncError, match=r"flow 3 "):
        OpticalFabric(shallow).submit(ChunkBatch.build(FIBRE, 0, 1, PACKET, 3), 0)
    with pytest.raises(ThzSyncError, match=r"^background: "):
        OpticalFabric(shallow, Background(0.5, PACKET))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: network([]), "ring_of_rack"),
        (lambda: network([0, 0], access_bps=0), "access_bps"),
        (lambda: network([0, 0], packet_bytes=1 << 21), "packet_bytes"),
        (lambda: network([0, 0], rack_reserve=2), "rack_reserve"),
        (lambda: network([0, 0], nic_queue_bytes=0), "nic_queue_bytes"),
        (lambda: Background(1.0), "load"),
        (lambda: Background(0.1, 0), "burst_bytes"),
        (lambda: ChunkBatch.build(FIBRE, 0, 1, 5, before=[0], after=[3]), "precedence"),
    ],
)
def test_bad_numbers_are_named(make: Any, text: str) -> None:
    with pytest.raises(ThzSyncError, match=text):
        make()


def test_precedence_in_a_circle_and_flows_with_two_sources_are_refused() -> None:
    fabric = OpticalFabric(network([0, 0, 0]))
    circle = ChunkBatch.build(FIBRE, 0, [1, 1], 5, before=[0, 1], after=[1, 0])
    with pytest.raises(ThzSyncError, match="itself"):
        fabric.submit(circle, 0)
    with pytest.raises(ThzSyncError, match="racks"):
        fabric.submit(ChunkBatch.build(FIBRE, [0, 1], 2, 5, 0), 0)


def test_the_clock_and_unfinished_batches_are_guarded() -> None:
    fabric = OpticalFabric(network([0, 0]))
    base = fabric.submit(ChunkBatch.build(FIBRE, 0, 1, 5), 0)
    with pytest.raises(ThzSyncError, match="unfinished"):
        fabric.retire(base)
    run_to(fabric, 1000)
    fabric.retire(base)
    with pytest.raises(ThzSyncError, match="retired"):
        fabric.retire(base)
    moves = (partial(fabric.move, source=a, target=b) for a, b in ((THZ, FIBRE), (FIBRE, THZ)))
    for act in (fabric.complete, *moves):
        with pytest.raises(ThzSyncError, match="now is 1000"):
            act(np.array([0]), at_ps=5)
    with pytest.raises(ThzSyncError, match="ps"):
        fabric.advance(10)
    with pytest.raises(ThzSyncError, match="link 99"):
        fabric.set_rate(99, 1e9, 1000)


def test_runs_merge_when_given_back() -> None:
    runs = Runs(10)
    starts = [runs.take(n) for n in (3, 4, 3)]
    assert starts == [0, 3, 7]
    assert runs.take(1) is None
    runs.give(0, 3)
    runs.give(7, 3)
    runs.give(3, 4)
    assert runs.take(10) == 0


PLAIN = """
import numpy as np
from tests.optical.cases import run_to
from tests.optical.networks import ring_network
from thzsync.optical import Background, OpticalFabric
from thzsync.transfers.batch import ChunkBatch
from thzsync.carriers import FIBRE
net = ring_network([0, 0, 1, 1], packet_bytes=1000, nic_queue_bytes=2500,
                    output_queue_bytes=2500, shared_buffer_bytes=6000, access_bps=3e11,
                    switch_delay_ps=999)
fabric = OpticalFabric(net, Background(0.4, 1500), 9, trace=True)
src = np.arange(24) % 4
batch = ChunkBatch.build(FIBRE, src, (src + 1 + np.arange(24) // 8) % 4, 3300, src,
                         before=np.arange(20), after=np.arange(4, 24))
fabric.submit(batch, 0)
run_to(fabric, 8 * 10**6)
print(fabric.packet_trace().sum(axis=0).tolist(), fabric.finished(0, 24).arrival_ps.tolist())
"""


def test_the_kernel_means_the_same_without_the_compiler() -> None:
    def run(disable: str) -> str:
        environment = os.environ | {"NUMBA_DISABLE_JIT": disable}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAIN],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    assert "-1" not in run("1").split("] [")[1]
    assert run("1") == run("0")


def test_bursts_are_the_same_however_few_are_drawn_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Links refill when half of their bursts are used; what is left moves up and is not lost."""
    carried = []
    for stored in (1 << 24, 40, 1):
        monkeypatch.setattr("thzsync.optical.lowering.BURSTS_STORED", stored)
        fabric = OpticalFabric(ring_network([0, 0, 1]), Background(0.3, 10_000), seed_key=5)
        fabric.advance(10**9)
        carried.append(fabric.link_bytes().background)
    assert carried[0].sum() > 0
    assert all(np.array_equal(carried[0], other) for other in carried[1:])


def test_counters_of_a_switch_without_racks_are_brought_up_to_date() -> None:
    carried = []
    for trains in (True, False):  # counted ahead, and one by one
        fabric = OpticalFabric(network([0, 0, 2, 2]), Background(0.5, PACKET), 1, trains=trains)
        fabric.advance(20_000)
        carried.append(fabric.link_bytes().background.tolist())
    assert carried[0] == carried[1]
