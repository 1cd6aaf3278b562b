"""Cases whose answer can be written down."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optical.cases import run_to
from tests.optical.networks import ring_network
from thzsync.carriers import FIBRE
from thzsync.network import Network
from thzsync.optical import Background, OpticalFabric
from thzsync.transfers.batch import ChunkBatch

PACKET = 1000
RATE_BPS = 8e12  # one byte per picosecond
DELAY_PS = 77


def network(rings: list[int], **changes: float) -> Network:
    settings: dict[str, float] = {
        "access_bps": RATE_BPS,
        "inter_bps": RATE_BPS,
        "switch_delay_ps": DELAY_PS,
        "packet_bytes": PACKET,
        "nic_queue_bytes": 8 * PACKET,
        "output_queue_bytes": 8 * PACKET,
        "shared_buffer_bytes": 64 * PACKET,
    }
    return ring_network(rings, **(settings | changes))  # type: ignore[arg-type]


def arrivals(net: Network, batch: ChunkBatch) -> list[int]:
    fabric = OpticalFabric(net)
    base = fabric.submit(batch, 0)
    run_to(fabric)
    times: list[int] = fabric.finished(base, len(batch)).arrival_ps.tolist()
    return times


@pytest.mark.parametrize(("rings", "hops"), [([0, 0], 2), ([0, 1], 3)])
@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 12_345])
def test_a_flow_alone_takes_its_size_plus_a_packet_per_further_hop(
    rings: list[int], hops: int, size: int
) -> None:
    # store and forward at one byte per ps: the first packet pays every hop, the rest follows
    # it back to back, and a short last packet never overtakes (eq:wired_flow_delay)
    sizes = [PACKET] * (size // PACKET) + ([size % PACKET] if size % PACKET else [])
    end = [0] * len(sizes)
    for hop in range(hops):
        free = 0
        for k, packet in enumerate(sizes):
            ready = end[k] + (DELAY_PS if hop else 0)
            free = max(free, ready) + packet
            end[k] = free
    got = arrivals(network(rings), ChunkBatch.build(FIBRE, 0, 1, size))
    assert got == [end[-1]]
    if size % PACKET == 0:
        assert end[-1] == size + (hops - 1) * (PACKET + DELAY_PS)


def test_an_incast_drains_at_the_rate_of_the_last_link() -> None:
    senders, packets = 5, 40
    batch = ChunkBatch.build(
        FIBRE, np.arange(senders), senders, packets * PACKET, np.arange(senders)
    )
    got = arrivals(network([0] * (senders + 1)), batch)
    assert max(got) == PACKET + DELAY_PS + senders * packets * PACKET
    # fair: all finish within one packet each of the last
    assert max(got) - min(got) <= senders * PACKET


def test_a_permutation_runs_at_line_rate() -> None:
    racks, size = 8, 50 * PACKET
    src = np.arange(racks)
    got = arrivals(network([0] * racks), ChunkBatch.build(FIBRE, src, (src + 3) % racks, size, src))
    assert got == [size + PACKET + DELAY_PS] * racks


def test_two_flows_of_a_rack_take_turns_packet_by_packet() -> None:
    batch = ChunkBatch.build(FIBRE, 0, [1, 2], 10 * PACKET, [0, 1])
    first, second = arrivals(network([0, 0, 0]), batch)
    hop = PACKET + DELAY_PS
    assert (first, second) == (19 * PACKET + hop, 20 * PACKET + hop)


def test_service_time_is_rounded_up_exactly() -> None:
    net = network([0, 0], access_bps=3e11)
    assert net.service_ps(0, 1) == 27  # 8/0.3 = 26.67 ps
    big = ring_network([0, 0], packet_bytes=1 << 20, access_bps=7)
    exact = -(-8 * (1 << 20) * 10**12 // 7)
    fabric = OpticalFabric(big)
    fabric.submit(ChunkBatch.build(FIBRE, 0, 1, 1 << 20), 0)
    run_to(fabric, 4 * 10**18)
    assert fabric.finished(0, 1).arrival_ps[0] == 2 * exact + big.switch_delay_ps


def test_energy_counts_bits_times_links() -> None:
    net = network([0, 0, 1])
    sizes = np.array([1000, 500])
    # 2 links for 0 -> 1, 3 links for 0 -> 2 (eq:optical_energy)
    got = net.energy_j(np.array([0, 0]), np.array([1, 2]), sizes)
    assert got == pytest.approx(40e-12 * 8 * (2 * 1000 + 3 * 500))


def waits(load: float, packets: int, key: int) -> tuple[float, float, float, float]:
    """Mean wait and its 99 % half-width [service times], mean queue length, throughput."""
    net = network([0, 0], output_queue_bytes=4000 * PACKET, shared_buffer_bytes=40_000 * PACKET)
    fabric = OpticalFabric(net, Background(load, PACKET), key, trace=True)
    run_to(fabric, int(packets * PACKET / load))
    rows = fabric.packet_trace()
    rows = rows[rows[:, 0] == 2]  # the link to rack 0
    wait = (rows[:, 5] - rows[:, 4]) / PACKET
    blocks = wait[: len(wait) // 40 * 40].reshape(40, -1).mean(axis=1)
    half = 2.7 * blocks.std(ddof=1) / np.sqrt(40)  # t quantile, 39 degrees of freedom
    span = rows[-1, 6] - rows[0, 4]
    in_system = (rows[:, 6] - rows[:, 4]).sum() / span
    return wait.mean(), half, in_system, len(rows) / span * PACKET


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_background_alone_is_an_m_d_1_queue(load: float) -> None:
    mean, half, in_system, throughput = waits(load, 200_000, key=11)
    expected = load / (2 * (1 - load))  # Pollaczek-Khinchine, deterministic service
    assert abs(mean - expected) <= half
    assert throughput == pytest.approx(load, rel=0.02)
    # Little: customers in the system = arrival rate x (wait + service)
    assert in_system == pytest.approx(throughput * (mean + 1), rel=1e-9)
