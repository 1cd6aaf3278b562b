"""Speed of the optical kernel, beside a SimPy model of the same fabric on the same workload."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from thzsync.carriers import FIBRE
from thzsync.network import Buffers, Network
from thzsync.network import rings as ring_network
from thzsync.optical.fabric import OpticalFabric
from thzsync.transfers.batch import ChunkBatch

_LONG_PS = 10**15


def sixteen_hosts(chunk_bytes: int) -> tuple[Network, ChunkBatch]:
    """16 hosts on 2 switches, 16-packet buffers, 4 KiB packets; every host sends to all 8 others
    across the switches, so every packet takes 3 hops and the middle link is the bottleneck."""
    packet = 4096
    buffers = Buffers(
        packet_bytes=packet,
        nic_queue_bytes=16 * packet,
        output_queue_bytes=16 * packet,
        shared_buffer_bytes=9 * 16 * packet,
    )
    network = ring_network(np.arange(16) // 8, buffers=buffers)
    src = np.repeat(np.arange(16), 8)
    dst = (8 * (1 - src // 8)) + (src + np.tile(np.arange(8), 16)) % 8
    return network, ChunkBatch.build(FIBRE, src, dst, chunk_bytes, np.arange(len(src)))


def neighbours(rings: int, lanes: int, chunk_bytes: int) -> tuple[Network, ChunkBatch]:
    """Every rack sends to three racks of its ring and to its lane's rack on the next ring."""
    network = ring_network(np.arange(rings * lanes) // lanes)
    rack = np.arange(rings * lanes)
    ring, lane = rack // lanes, rack % lanes
    targets = [ring * lanes + (lane + step) % lanes for step in (1, 2, 3)]
    targets.append((ring + 1) % rings * lanes + lane)
    src, dst = np.tile(rack, 4), np.concatenate(targets)
    return network, ChunkBatch.build(FIBRE, src, dst, chunk_bytes, np.arange(len(src)))


def _best(run: Callable[[], tuple[int, float]], repeats: int) -> float:
    """Packet-hops per CPU-second of the fastest repeat: the others were disturbed."""
    return max(hops / seconds for hops, seconds in (run() for _ in range(repeats)))


def kernel_rate(network: Network, batch: ChunkBatch, repeats: int = 5) -> tuple[float, int]:
    """Packet-hops per CPU-second of the kernel, and the memory of its state [bytes]."""
    fabric = OpticalFabric(network)

    def run() -> tuple[int, float]:
        base, before = fabric.submit(batch, fabric.now_ps), fabric.packet_hops
        start = time.process_time()
        fabric.advance(fabric.now_ps + _LONG_PS)
        seconds = time.process_time() - start
        fabric.retire(base)
        return fabric.packet_hops - before, seconds

    run()  # compile, and grow pools to their size
    return _best(run, repeats), fabric.state_bytes


def simpy_rate(network: Network, batch: ChunkBatch, repeats: int = 2) -> float:
    """Packet-hops per CPU-second of the SimPy model."""

    from tests.reference.simpy_fabric import SimpyFabric

    def run() -> tuple[int, float]:
        model = SimpyFabric(network, batch)
        start = time.process_time()
        model.run()
        return model.packet_hops, time.process_time() - start

    return _best(run, repeats)


def beside_simpy(fast: float) -> dict[str, float]:
    """The comparison with SimPy, where it is installed: it comes with the extra ``test``."""
    if find_spec("simpy") is None:
        return {}
    slow = simpy_rate(*sixteen_hosts(64 * 1024))
    return {"simpy_packet_hops_per_s": slow, "ratio": fast / slow}


def measure() -> dict[str, float]:
    """The figures of ``bench optical``; rates are packet-hops per CPU-second.

    ``state_bytes`` is the memory of all kernel arrays after ``packet_hops`` packet-hops: it
    follows what is in flight, not what was sent.
    """
    network, batch = sixteen_hosts(8 * 1024 * 1024)
    fast, state_bytes = kernel_rate(network, batch)
    small, _ = kernel_rate(*neighbours(4, 8, 256 * 1024 * 1024))
    large, _ = kernel_rate(*neighbours(32, 32, 8 * 1024 * 1024))
    hops = 3 * int(np.sum(-(-batch.size_bytes // network.packet_bytes)))
    return {
        "packet_hops_per_s": fast,
        **beside_simpy(fast),
        "cost_ratio_1024_to_32_racks": small / large,
        "packet_hops_per_s_32_racks": small,
        "packet_hops_per_s_1024_racks": large,
        "packet_hops": float(6 * hops),
        "state_bytes": float(state_bytes),
    }
