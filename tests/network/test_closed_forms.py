"""Times on networks of several tiers that can be written down: the line rate, then every hop."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optical.cases import run_to
from thzsync.arrays import IntArray
from thzsync.network import Buffers, Fibres, Network, fat_tree, leaf_spine, rings
from thzsync.network.generators import PS_PER_M
from thzsync.optical import FlowFabric, OpticalFabric
from thzsync.optical.flow_lowering import train_bytes
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import FIBRE

PACKET = 1000
RATE_BPS = 8e12  # one byte per picosecond
DELAY_PS = 77
ACCESS_PS, SWITCH_PS = 2 * PS_PER_M, 3 * PS_PER_M
RACKS, LEAF = 16, 4
SIZE = 400 * PACKET
FABRICS = [OpticalFabric, FlowFabric]


def fibres(oversubscription: float = 1.0) -> Fibres:
    ample = 1 << 30
    return Fibres(
        access_bps=RATE_BPS,
        oversubscription=oversubscription,
        access_length_m=2,
        switch_length_m=3,
        buffers=Buffers(
            switch_delay_ps=DELAY_PS,
            packet_bytes=PACKET,
            nic_queue_bytes=64 * PACKET,
            output_queue_bytes=ample,
            shared_buffer_bytes=ample,
        ),
    )


def latency_ps(links: int, slowness: float = 1.0) -> int:
    """From the last bit's departure to its arrival: switches store a packet and forward it.

    Links between switches take ``slowness`` times as long as those to racks.
    """
    between = links - 2
    stored = PACKET * (1 + between * slowness)
    return int((links - 1) * DELAY_PS + stored + 2 * ACCESS_PS + between * SWITCH_PS)


def arrivals(fabric: OpticalFabric | FlowFabric, batch: ChunkBatch) -> IntArray:
    base = fabric.submit(batch, 0)
    run_to(fabric)
    return fabric.finished(base, len(batch)).arrival_ps


def flows(src: IntArray, dst: IntArray, size: int = SIZE) -> ChunkBatch:
    return ChunkBatch.build(FIBRE, src, dst, size, np.arange(len(src)))


def ring_allreduce(racks: int, chunks: int, chunk_bytes: int) -> ChunkBatch:
    """2(N - 1) steps, one flow per neighbour pair, every chunk sent on when it has arrived."""
    node = np.arange(2 * (racks - 1) * racks * chunks).reshape(-1, racks, chunks)
    _, src, _ = np.unravel_index(node.ravel(), node.shape)
    before, after = node[:-1], np.roll(node[1:], -1, axis=1)
    return ChunkBatch.build(
        FIBRE, src, (src + 1) % racks, chunk_bytes, src,
        before=before.ravel(), after=after.ravel(),
    )  # fmt: skip


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize(
    ("network", "leaf"),
    [(leaf_spine(RACKS, LEAF, 2, fibres(8)), LEAF), (fat_tree(54, 6, fibres(8)), 3)],
    ids=["leaf-spine", "fat-tree"],
)
def test_a_permutation_inside_a_leaf_runs_at_line_rate(
    network: Network, leaf: int, fabric: type
) -> None:
    src = np.arange(network.racks)
    dst = src // leaf * leaf + (src + 1) % leaf
    got = arrivals(fabric(network), flows(src, dst))
    assert got.tolist() == [SIZE + latency_ps(2)] * len(src)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("ratio", [1, 2, 4])
def test_a_permutation_between_leaves_takes_their_oversubscription(
    ratio: int, fabric: type
) -> None:
    """One spine, whose links are never idle from the first packet on."""
    network = leaf_spine(RACKS, LEAF, 1, fibres(ratio))
    src = np.arange(RACKS)
    batch = flows(src, (src + LEAF) % RACKS)
    got, slowness = arrivals(fabric(network), batch), ratio / LEAF
    busy = ratio * SIZE + latency_ps(4, slowness) + (1 - slowness) * PACKET
    train = PACKET if fabric is OpticalFabric else int(train_bytes(batch, network, 128).max())
    # a train may find those of the leaf's other racks before it
    assert 0 <= got.max() - busy <= 2 * (train - PACKET)
    assert got.min() >= busy - ratio * train  # all end together


NETWORKS = [(leaf_spine(RACKS, LEAF, LEAF, fibres()), 4), (fat_tree(RACKS, 4, fibres()), 6)]


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize(("network", "links"), NETWORKS, ids=["leaf-spine", "fat-tree"])
def test_a_ring_allreduce_takes_the_line_rate_and_one_longest_path(
    network: Network, links: int, fabric: type
) -> None:
    chunks, chunk = 8, 8 * PACKET
    got = arrivals(fabric(network), ring_allreduce(RACKS, chunks, chunk)).max()
    tensor = RACKS * chunks * chunk
    expected = 2 * (RACKS - 1) / RACKS * tensor + latency_ps(links)
    assert got == expected


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("ratio", [2, 4])
def test_a_ring_allreduce_takes_the_rate_of_the_slowest_link(ratio: int, fabric: type) -> None:
    """As many spines as racks behind a leaf, so the path between two leaves has 1/r of the rate."""
    network = leaf_spine(RACKS, LEAF, LEAF, fibres(ratio))
    chunks, chunk = 8, 8 * PACKET
    got = arrivals(fabric(network), ring_allreduce(RACKS, chunks, chunk)).max()
    busy = 2 * (RACKS - 1) * chunks * chunk * ratio
    expected = PACKET + busy + latency_ps(4, ratio) - ratio * PACKET
    assert got == expected


def exchange(racks: int, packets: int, rotated: bool) -> ChunkBatch:
    """An All-to-All; a rack begins with rack 0, or with its neighbour if it is rotated."""
    src = np.repeat(np.arange(racks), racks - 1)
    step = np.tile(np.arange(1, racks), racks)
    dst = (src + step) % racks if rotated else np.where(step > src, step, step - 1)
    return flows(src, dst, packets * PACKET)


@pytest.mark.parametrize("packets", [1, 2, 5])
def test_an_all_to_all_by_number_wastes_its_first_packets(packets: int) -> None:
    """All racks send to rack 0 first, then to rack 1: the last target waits N - 1 packets long."""
    n = 24
    network = rings(np.zeros(n, dtype=int), access_bps=RATE_BPS, buffers=fibres().buffers)
    line_ps, hop_ps = (n - 1) * packets * PACKET, PACKET + DELAY_PS
    rotated, by_number = (
        arrivals(OpticalFabric(network), exchange(n, packets, rotated)).max()
        for rotated in (True, False)
    )
    assert rotated == line_ps + hop_ps
    assert by_number == line_ps + (n - 1) * PACKET + DELAY_PS
