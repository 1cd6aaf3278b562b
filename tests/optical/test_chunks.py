"""The quick look at a batch, and the one that names what is wrong, are of one opinion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.optical.cases import batches, networks
from thzsync.errors import ThzSyncError
from thzsync.optical import Network, chunks
from thzsync.optical.chunks import check_chunks
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import AIR, FIBRE, JOIN

Check = Callable[[ChunkBatch, Network], None]
VALUES = [-1, 0, 1, 2, 50, 70_000]


@given(data=st.data(), column=st.sampled_from(["src", "dst", "size_bytes", "flow"]))
def test_both_looks_refuse_the_same_batches(data: st.DataObject, column: str) -> None:
    network = data.draw(networks())
    batch = data.draw(batches(network, (FIBRE, AIR, JOIN)))
    if data.draw(st.booleans()):
        values = getattr(batch, column).copy()
        values[data.draw(st.integers(0, len(values) - 1))] = data.draw(st.sampled_from(VALUES))
        batch = replace(batch, **{column: values})
    assert _refused(check_chunks, batch, network) == _refused(_slow, batch, network)


def _slow(batch: ChunkBatch, network: Network) -> None:
    carried = np.flatnonzero(batch.kind <= AIR)
    if len(carried):
        chunks._check_chunks(batch, network, carried)


def _refused(check: Check, batch: ChunkBatch, network: Network) -> str | None:
    try:
        check(batch, network)
    except ThzSyncError as error:
        return str(error)
    return None
