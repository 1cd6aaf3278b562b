"""Chunks that a network could never carry are refused before they run."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.jit import kernel
from thzsync.optical.network import Network
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import AIR


def check_chunks(batch: ChunkBatch, network: Network) -> None:
    """Refuse chunks between unknown racks or too large for every queue, naming the flow."""
    narrow = min(network.nic_queue_bytes, network.output_queue_bytes)
    if not _sound(
        batch.kind, batch.src, batch.dst, batch.size_bytes, batch.flow, network.ring_of_rack,
        network.packet_bytes, narrow, network.shared_buffer_bytes, network.ring_facing_bytes,
    ):  # fmt: skip
        _check_chunks(batch, network, np.flatnonzero(batch.kind <= AIR))


@kernel
def _sound(
    kind: IntArray, src: IntArray, dst: IntArray, size_bytes: IntArray, flow: IntArray,
    ring_of_rack: IntArray, packet_bytes: int, narrow: int, shared: int, ring_facing: int,
) -> bool:  # fmt: skip
    """Whether nothing is wrong: one pass, where finding out what is wrong takes a dozen."""
    racks, flows = len(ring_of_rack), 0
    for n in range(len(kind)):
        if kind[n] > AIR:
            continue
        i, j = src[n], dst[n]
        inside = 0 <= i < racks and 0 <= j < racks and i != j
        if not inside or size_bytes[n] <= 0 or flow[n] < 0:
            return False
        packet = min(size_bytes[n], packet_bytes)
        room = shared if ring_of_rack[i] == ring_of_rack[j] else ring_facing
        if packet > narrow or packet > room:
            return False
        flows = max(flows, flow[n] + 1)
    leaves = np.full(flows, -1, dtype=np.int64)
    for n in range(len(kind)):
        if kind[n] > AIR:
            continue
        if leaves[flow[n]] >= 0 and leaves[flow[n]] != src[n]:
            return False
        leaves[flow[n]] = src[n]
    return True


def _check_chunks(batch: ChunkBatch, network: Network, carried: IntArray) -> None:
    src, dst, size = batch.src[carried], batch.dst[carried], batch.size_bytes[carried]
    flow = batch.flow[carried]

    def refuse(wrong: BoolArray, text: str) -> None:
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            values = {"flow": flow[k], "src": src[k], "dst": dst[k], "size": size[k]}
            place = f"flow {flow[k]} (chunk {carried[k]})"
            raise ThzSyncError(f"{place}: " + text.format(**values, last=network.racks - 1))

    unknown = (src < 0) | (src >= network.racks)
    refuse(unknown, "source rack {src} does not exist; use 0..{last}")
    unknown = (dst < 0) | (dst >= network.racks)
    refuse(unknown, "destination rack {dst} does not exist; use 0..{last}")
    refuse(src == dst, "it goes from rack {src} to itself; name two different racks")
    refuse(size <= 0, "its size is {size} bytes; use at least 1")
    refuse(flow < 0, "flow numbers start at 0; renumber it")
    packet = np.minimum(size, network.packet_bytes)
    narrow = min(network.nic_queue_bytes, network.output_queue_bytes)
    refuse(packet > narrow, f"no queue can pass its packets ({narrow} bytes); use smaller packets")
    crossing = network.ring_of_rack[src] != network.ring_of_rack[dst]
    room = np.where(crossing, network.ring_facing_bytes, network.shared_buffer_bytes)
    refuse(packet > room, "no shared buffer can pass its packets; enlarge shared_buffer_bytes")
    first = np.full(int(flow.max()) + 1, -1, dtype=np.int64)
    first[flow] = src
    refuse(first[flow] != src, "its chunks leave from several racks; use one flow per source")
