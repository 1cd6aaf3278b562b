"""Chunks that a network could never carry are refused before they run."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE
from thzsync.errors import ThzSyncError
from thzsync.jit import kernel
from thzsync.network import Network
from thzsync.transfers.batch import ChunkBatch

FINE, SOURCE, DESTINATION, ITSELF, EMPTY, NUMBER, QUEUE, BUFFER, SCATTERED = range(9)

MESSAGES: Final = {
    SOURCE: "source rack {src} does not exist; use 0..{last}",
    DESTINATION: "destination rack {dst} does not exist; use 0..{last}",
    ITSELF: "it goes from rack {src} to itself; name two different racks",
    EMPTY: "its size is {size} bytes; use at least 1",
    NUMBER: "flow numbers start at 0; renumber it",
    QUEUE: "no queue can pass its packets ({queue} bytes); use smaller packets",
    BUFFER: "no shared buffer can pass its packets; enlarge shared_buffer_bytes",
    SCATTERED: "its chunks leave from several racks; use one flow per source",
}
"""What each fault means; of a chunk's faults, the first in this order is reported."""


def check_chunks(batch: ChunkBatch, network: Network) -> None:
    """Refuse chunks between unknown racks or too large for every queue, naming the flow."""
    buffers = network.buffers
    smallest_queue = min(buffers.nic_queue_bytes, buffers.output_queue_bytes)
    fault, n = first_fault(
        batch.kind, batch.src, batch.dst, batch.size_bytes, batch.flow, network.leaf_of_rack,
        network.packet_bytes, smallest_queue, buffers.shared_buffer_bytes, network.passing_bytes,
    )  # fmt: skip
    if fault != FINE:
        text = MESSAGES[fault].format(
            src=batch.src[n],
            dst=batch.dst[n],
            size=batch.size_bytes[n],
            queue=smallest_queue,
            last=network.racks - 1,
        )
        raise ThzSyncError(f"flow {batch.flow[n]} (chunk {n}): {text}")


@kernel
def first_fault(  # noqa: PLR0911 - one for every fault
    kind: IntArray, src: IntArray, dst: IntArray, size_bytes: IntArray, flow: IntArray,
    leaf_of_rack: IntArray, packet_bytes: int, smallest_queue: int, shared: int, passing: int,
) -> tuple[int, int]:  # fmt: skip
    """The fault of the first faulty chunk, and its number; nodes that are no chunks are skipped.

    ``shared`` is the room for packets that stay at one leaf switch, ``passing`` for others [bytes].
    """
    racks, flows = len(leaf_of_rack), 0
    for n in range(len(kind)):
        if kind[n] < FIBRE:
            continue
        i, j = src[n], dst[n]
        if not 0 <= i < racks:
            return SOURCE, n
        if not 0 <= j < racks:
            return DESTINATION, n
        if i == j:
            return ITSELF, n
        if size_bytes[n] <= 0:
            return EMPTY, n
        if flow[n] < 0:
            return NUMBER, n
        packet = min(size_bytes[n], packet_bytes)
        if packet > smallest_queue:
            return QUEUE, n
        if packet > (shared if leaf_of_rack[i] == leaf_of_rack[j] else passing):
            return BUFFER, n
        flows = max(flows, flow[n] + 1)
    source = np.full(flows, -1, dtype=np.int64)  # of every flow
    for n in range(len(kind)):
        if kind[n] < FIBRE:
            continue
        if source[flow[n]] >= 0 and source[flow[n]] != src[n]:
            return SCATTERED, n
        source[flow[n]] = src[n]
    return FINE, -1
