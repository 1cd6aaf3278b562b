"""A batch is refused exactly if one of its chunks could never be carried, by the first of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.optical.cases import batches, networks
from thzsync.carriers import FIBRE, THZ
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.optical.chunks import check_chunks
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import JOIN

VALUES = [-1, 0, 1, 2, 50, 70_000]


def faulty(batch: ChunkBatch, network: Network) -> list[int]:
    """Chunks that could not be carried whatever the others were."""
    buffers = network.buffers
    queue = min(buffers.nic_queue_bytes, buffers.output_queue_bytes)

    def wrong(n: int) -> bool:
        i, j, size = (int(c[n]) for c in (batch.src, batch.dst, batch.size_bytes))
        if i == j or not {i, j} <= set(range(network.racks)) or size < 1 or batch.flow[n] < 0:
            return True
        same = network.hops(i, j) == 2
        room = buffers.shared_buffer_bytes if same else network.passing_bytes
        return min(size, network.packet_bytes) > min(queue, room)

    return [n for n in range(len(batch)) if batch.kind[n] >= FIBRE and wrong(n)]


def scattered(batch: ChunkBatch) -> bool:
    """Whether the chunks of some flow leave from several racks."""
    racks: dict[int, set[int]] = {}
    for n in range(len(batch)):
        if batch.kind[n] >= FIBRE:
            racks.setdefault(int(batch.flow[n]), set()).add(int(batch.src[n]))
    return any(len(sources) > 1 for sources in racks.values())


@given(data=st.data(), column=st.sampled_from(["src", "dst", "size_bytes", "flow"]))
def test_the_first_chunk_that_cannot_be_carried_is_named(data: st.DataObject, column: str) -> None:
    network = data.draw(networks())
    batch = data.draw(batches(network, (FIBRE, THZ, JOIN)))
    if data.draw(st.booleans()):
        values = getattr(batch, column).copy()
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.sampled_from(VALUES))
        batch = replace(batch, **{column: values})
    wrong = faulty(batch, network)
    if wrong:
        with pytest.raises(ThzSyncError, match=rf"\(chunk {wrong[0]}\)"):
            check_chunks(batch, network)
    elif scattered(batch):
        with pytest.raises(ThzSyncError, match="several racks"):
            check_chunks(batch, network)
    else:
        check_chunks(batch, network)
