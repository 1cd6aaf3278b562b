"""Packets are a discretisation: completion times settle as packets shrink."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optical.cases import run_to
from tests.optical.networks import ring_network
from thzsync.carriers import FIBRE
from thzsync.optical import OpticalFabric
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import JOIN

KIB = 1024
CHUNK = 512 * KIB
PACKETS = [512 * KIB, 256 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB]


def all_to_all() -> ChunkBatch:
    """8 racks of one ring, 12 MiB per source: 3 chunks and a rest for every peer."""
    src, dst = (x.ravel() for x in np.meshgrid(np.arange(8), np.arange(8), indexing="ij"))
    src, dst = src[src != dst], dst[src != dst]
    per_peer = 12 * KIB * KIB // 7
    sizes = [CHUNK] * (per_peer // CHUNK) + [per_peer % CHUNK]
    flow = np.arange(len(src))
    parts = len(sizes)
    return ChunkBatch.build(
        FIBRE, np.repeat(src, parts), np.repeat(dst, parts), np.tile(sizes, len(src)),
        np.repeat(flow, parts),
    )  # fmt: skip


def tree_allreduce(chunks: int = 16) -> ChunkBatch:
    """A binary tree over 8 racks: chunk k moves up when both children's chunk k is there."""
    parent = [(k - 1) // 2 for k in range(1, 8)]
    up = {(k, j): (k - 1) * chunks + j for k in range(1, 8) for j in range(chunks)}
    down = {key: 7 * chunks + node for key, node in up.items()}
    root = {j: 14 * chunks + j for j in range(chunks)}
    src = [k for k in range(1, 8) for _ in range(chunks)]
    dst = [parent[k - 1] for k in range(1, 8) for _ in range(chunks)]
    before, after = [], []
    for k in range(1, 8):
        for j in range(chunks):
            above = parent[k - 1]
            before += [up[k, j], down[above, j] if above else root[j]]
            after += [up[above, j] if above else root[j], down[k, j]]
    kinds = [FIBRE] * (14 * chunks) + [JOIN] * chunks
    idle = [0] * chunks
    flow = [k - 1 for k in src] + [7 + k - 1 for k in src] + idle
    return ChunkBatch.build(
        kinds, src + dst + idle, dst + src + idle, CHUNK, flow, before=before, after=after
    )


def lanes() -> ChunkBatch:
    """8 racks of one ring to their neighbours on the next, 16 MiB each, over one fibre."""
    return ChunkBatch.build(FIBRE, np.arange(8), 8 + np.arange(8), 16 * KIB * KIB, np.arange(8))


def completion_ms(batch: ChunkBatch, packet_bytes: int) -> float:
    network = ring_network(np.arange(16) // 8, packet_bytes=packet_bytes)
    fabric = OpticalFabric(network)
    fabric.submit(batch, 0)
    run_to(fabric, 10**12)
    return float(fabric.finished(0, len(batch)).arrival_ps.max()) * 1e-9


@pytest.mark.parametrize("make", [all_to_all, tree_allreduce, lanes])
def test_completion_settles_as_packets_shrink(make: object) -> None:
    assert callable(make)
    batch = make()
    times = [completion_ms(batch, packet) for packet in PACKETS]
    gaps = np.abs(np.array(times) - times[-1]) / times[-1]
    assert gaps[PACKETS.index(64 * KIB)] < 0.04
    assert gaps[PACKETS.index(16 * KIB)] < 0.01
    # halving the packet at least roughly halves what is left of the error
    assert (gaps[3:-1] <= 0.75 * gaps[2:-2] + 1e-4).all()


if __name__ == "__main__":
    for make in (all_to_all, tree_allreduce, lanes):
        row = [completion_ms(make(), packet) for packet in PACKETS]
        print(make.__name__, " | ".join(f"{x:.3f}" for x in row))
