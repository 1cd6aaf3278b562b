"""Records of format 2, which versions 0.2 and 0.3 wrote, are read as if they were of today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from thzsync.auditor import audit
from thzsync.carriers import THZ
from thzsync.errors import ThzSyncError
from thzsync.records.folder import write_record
from thzsync.records.run import MARKER, SCENARIO, Run, frame_bytes
from thzsync.simulation import simulate

WALL = ("optical_wall_j", "thz_wall_j", "further_wall_j", "wall_energy_j", "total_energy_j")
STATIC = (
    "static_j", "static_energy_j", "fibre_static_j", "thz_static_j", "further_static_j",
    "rack_static_j",
)  # fmt: skip
OF_RADIO = ("noise_w", "step", "error_rate")
ADDED = ("further_energy_j", "further_bytes", *OF_RADIO, *WALL, *STATIC)


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate("tiny", "thz-sync", iterations=2, seed=1)


def of_format_2(run: Run) -> Iterator[tuple[str, bytes]]:
    """The files that version 0.3 wrote."""
    yield SCENARIO, run.scenario.to_toml().replace('carriers = ["thz"]\n', "").encode()
    for name, frame in run.tables.items():
        table = frame.drop(ADDED, strict=False)
        if name == "chunks":
            carried = {"decided": pl.col("decided") == THZ, "thz": pl.col("carrier") == THZ}
            table = table.with_columns(**carried).drop("carrier")
        if name != "sendings":
            yield f"{name}.parquet", frame_bytes(table)


def old_record(run: Run, folder: Path, version: int = 2) -> Path:
    rows = {name: frame.height for name, frame in run.tables.items() if name != "sendings"}
    told = {**run.provenance(), "format": version, "rows": rows}
    del told["carriers"]
    return write_record(folder, MARKER, told, of_format_2(run))


def test_a_record_of_format_2_passes_the_audit_with_the_same_tables(
    run: Run, tmp_path: Path
) -> None:
    found = Run.load(old_record(run, tmp_path / "old"))
    assert all(found.tables[name].equals(table) for name, table in run.tables.items())
    assert audit(found).violations == []
    found.save(tmp_path / "new")
    assert audit(tmp_path / "new").ok


def test_other_formats_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="format 3"):
        Run.load(old_record(run, tmp_path / "old", version=1))
