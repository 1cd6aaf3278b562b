"""Algorithm and bus bandwidth of events, as nccl-tests defines them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from thzsync.collectives import Demand, Tensor, Transfer, find_collective, split_bytes

if TYPE_CHECKING:
    import polars as pl


def with_bandwidth(events: pl.DataFrame) -> pl.DataFrame:
    """Events with ``algbw_gb_s`` and ``busbw_gb_s`` [GB/s, 1e9 bytes].

    ``events`` needs kind, racks, payload_bytes and completion_ms. A record has the sum of a
    directed demand, not its pairs: All-to-All and P2P are taken as even, which is exact where they
    are.
    """
    import polars as pl

    rows = events.select("kind", "racks", "payload_bytes", "completion_ms").iter_rows()
    columns: list[tuple[float | None, float | None]] = []
    for kind, racks, payload, completion_ms in rows:
        if not completion_ms:
            columns.append((None, None))
            continue
        size, bus = _bytes(kind, len(racks), payload)
        columns.append((size / completion_ms * 1e-6, bus / completion_ms * 1e-6))
    return events.with_columns(
        pl.Series("algbw_gb_s", [algbw for algbw, _ in columns], pl.Float64),
        pl.Series("busbw_gb_s", [busbw for _, busbw in columns], pl.Float64),
    )


@cache
def _bytes(kind: str, parties: int, payload: int) -> tuple[float, float]:
    """Size and busiest rack's bytes of a collective whose payload is even."""
    collective = find_collective(kind)
    racks = np.arange(parties, dtype=np.int64)
    demand = _even(kind, parties, payload)
    if parties < 2:
        return float(payload), float(payload)
    return collective.buffer_bytes(demand, racks), collective.blocks(demand, racks).bus_bytes


def _even(kind: str, parties: int, payload: int) -> Demand:
    collective = find_collective(kind)
    if collective.demand is Tensor:
        return Tensor(payload, 0 if collective.rooted else None)
    if collective.keeps_part:
        src, dst = np.nonzero(~np.eye(parties, dtype=np.bool_))
    else:  # lanes side by side: one half sends to the other
        src = np.arange(parties // 2)
        dst = src + parties // 2
    return Transfer.of(src, dst, split_bytes(payload, max(1, len(src)))[: len(src)])
