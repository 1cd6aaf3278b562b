"""Algorithm and bus bandwidth of collectives, as nccl-tests defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import polars as pl

BANDWIDTHS: Final = ("algbw_gb_s", "busbw_gb_s")
"""Columns of recorded events [GB/s, 1e9 bytes]."""


def by_collective(events: pl.DataFrame) -> list[dict[str, Any]]:
    """Every collective type of recorded events: how many, how long, how fast.

    A type's bandwidth is all its bytes over all its time, so that long events count as such.
    """
    import polars as pl

    time = pl.col("completion_ms")
    sums = [
        pl.when(time.sum() > 0).then((pl.col(name) * time).sum() / time.sum()).alias(name)
        for name in BANDWIDTHS
    ]
    grouped = events.group_by("kind", maintain_order=True)
    return grouped.agg(pl.len().alias("events"), time.mean(), *sums).to_dicts()
