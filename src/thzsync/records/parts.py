"""A part of a run in progress: its tables and decisions in one file, complete or absent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.files import open_atomically
from thzsync.records.folder import Files, Record, read_marker
from thzsync.records.recorder import list_series
from thzsync.records.run import stream_bytes

SUFFIX: Final = "arrow"
"""Of all tables of a part."""
DECISIONS: Final = f"decisions.{SUFFIX}"

Decision = tuple[IntArray, FloatArray]
"""Chunks by unit and carrier beside fibre, and power per rack."""


def write_packed(path: Path, files: Files) -> None:
    """The files in one, uncompressed: tables are compressed already, and made one by one."""
    with open_atomically(path) as file, ZipFile(file, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)


class PackedRecord(Record):
    """A record whose files, its marker among them, lie in one archive; ``folder`` is its path."""

    @classmethod
    def open(cls, file: Path, marker: str) -> PackedRecord:
        """The record in an archive, if it is unchanged."""
        record = cls(file, marker, read_marker(_member(file, marker) or b"", file), file)
        record.check_seal()
        return record

    def contents(self, name: str) -> Iterator[bytes | None]:
        """The content of a file in the archive."""
        yield _member(self.folder, name)


def _member(file: Path, name: str) -> bytes | None:
    try:
        with ZipFile(file) as archive:
            return archive.read(name)
    except (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError):
        return None


def decision_bytes(decisions: Sequence[Decision]) -> bytes:
    """Decisions as a file."""
    import polars as pl

    flat = [chunks.ravel() for chunks, _ in decisions]
    chunks = list_series("chunks", flat, pl.List(pl.Int64()))
    power = list_series("power", [power for _, power in decisions], pl.List(pl.Float64()))
    columns = pl.Series("carriers", [chunks.shape[1] for chunks, _ in decisions], pl.Int64)
    return stream_bytes(pl.DataFrame([chunks, power, columns]))


def read_decisions(part: Record) -> Iterator[Decision]:
    """The decisions of a part, in order."""
    import polars as pl

    for chunks, power, *carriers in pl.read_ipc_stream(part.read(DECISIONS)).iter_rows():
        counts = np.array(chunks, dtype=np.int64)  # runs that version 0.3 began have no carriers
        columns = carriers[0] if carriers else 1
        yield counts.reshape(-1, columns), np.array(power, dtype=np.float64)
