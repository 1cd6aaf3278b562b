"""The decisions of a run in progress, as one file per part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.records.folder import Record
from thzsync.records.recorder import list_series
from thzsync.records.run import stream_bytes

SUFFIX: Final = "arrow"
"""Of all tables of a part."""
DECISIONS: Final = f"decisions.{SUFFIX}"

Decision = tuple[IntArray, FloatArray]
"""THz chunks per unit and power per rack."""


def decision_bytes(decisions: Sequence[Decision]) -> bytes:
    """Decisions as a file."""
    import polars as pl

    chunks = list_series("thz_chunks", [chunks for chunks, _ in decisions], pl.List(pl.Int64()))
    power = list_series("power", [power for _, power in decisions], pl.List(pl.Float64()))
    return stream_bytes(pl.DataFrame([chunks, power]))


def read_decisions(part: Record) -> Iterator[Decision]:
    """The decisions of a part, in order."""
    import polars as pl

    for chunks, power in pl.read_ipc_stream(part.read(DECISIONS)).iter_rows():
        yield np.array(chunks, dtype=np.int64), np.array(power, dtype=np.float64)
