"""Algorithm and bus bandwidth of events, as nccl-tests defines them.

Both follow from what a record holds anyway, an event's blocks and its completion time. They are
worked out when they are asked for: no recorded column can disagree with them, and records of
before have them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Blocks, Tensor, collective_names, find_collective

if TYPE_CHECKING:
    import polars as pl

    from thzsync.records import Run

BANDWIDTHS: Final = ("algbw_gb_s", "busbw_gb_s")


def with_bandwidth(run: Run) -> pl.DataFrame:
    """A run's events with ``algbw_gb_s`` and ``busbw_gb_s`` [GB/s, 1e9 bytes].

    Null where an event took no time, or where nothing is known of its collective.
    """
    import polars as pl

    needed = ("number", "kind", "racks", "payload_bytes", "completion_ms")
    blocks = dict(_blocks(run.tables["blocks"]))
    columns: dict[str, list[float | None]] = {name: [] for name in BANDWIDTHS}
    for number, kind, racks, payload, took_ms in run.events.select(needed).iter_rows():
        sizes = _bytes(kind, len(racks), payload, blocks.get(number))
        for name, size in zip(BANDWIDTHS, sizes, strict=True):
            columns[name].append(size / took_ms * 1e-6 if size is not None and took_ms else None)
    return run.events.with_columns(pl.Series(k, v, pl.Float64) for k, v in columns.items())


def by_collective(events: pl.DataFrame) -> list[dict[str, Any]]:
    """Every collective type of ``with_bandwidth``'s events: how many, how long, how fast.

    A type's bandwidth is all its bytes over all its time, so that long events count as such.
    """
    import polars as pl

    time = pl.col("completion_ms")
    known = [time.filter(pl.col(name).is_not_null()).sum() for name in BANDWIDTHS]
    sums = [
        pl.when(whole > 0).then((pl.col(name) * time).sum() / whole).alias(name)
        for name, whole in zip(BANDWIDTHS, known, strict=True)
    ]
    grouped = events.group_by("kind", maintain_order=True)
    return grouped.agg(pl.len().alias("events"), time.mean(), *sums).to_dicts()


def _bytes(
    kind: str, parties: int, payload: int, blocks: Blocks | None
) -> tuple[float | None, float | None]:
    """The size that nccl-tests prints, and the busiest rack's bytes."""
    if kind not in collective_names():  # a package's own, and the package is not here
        return None, None
    collective = find_collective(kind)
    bus = blocks.bus_bytes if blocks is not None else 0.0
    if collective.demand is Tensor:
        return float(payload), bus
    return (bus * parties / (parties - 1) if collective.keeps_part and parties > 1 else bus), bus


def _blocks(table: pl.DataFrame) -> Iterator[tuple[int, Blocks]]:
    """What every event has to do, from its rows."""
    if not table.height:
        return
    rows = table.sort("number", "block")
    number, size = rows["number"].to_numpy(), rows["bytes"].to_numpy()
    ends = [_ragged(rows[side]) for side in ("sources", "targets")]
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    for a, b in pairwise(cuts):
        parts = (_cut(start, racks, a, b) for start, racks in ends)
        (source_start, source), (target_start, target) = parts
        yield int(number[a]), Blocks(size[a:b], source_start, source, target_start, target)


def _ragged(lists: pl.Series) -> tuple[IntArray, IntArray]:
    """Lists as one array, and where each begins and ends in it."""
    lengths = lists.list.len().to_numpy().astype(np.int64)
    flat = lists.list.explode().drop_nulls().to_numpy().astype(np.int64)
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths))), flat


def _cut(start: IntArray, racks: IntArray, a: int, b: int) -> tuple[IntArray, IntArray]:
    return start[a : b + 1] - start[a], racks[start[a] : start[b]]
