"""Where the bytes of one iteration went: rack to rack on each carrier, and fibre by fibre."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from thzsync.carriers import FIBRE
from thzsync.display.labels import short
from thzsync.records.run import Run
from thzsync.report.floor import Lines
from thzsync.report.replay import fibre_samples
from thzsync.report.timeline import window_ps

MOST_RACKS: Final = 128
"""Beyond this, a matrix of rack pairs is no picture any more; one of their groups still is."""


def traffic(run: Run, drawn: Lines | None = None) -> dict[str, Any]:
    """Bytes per pair of racks, of rings or rows, and per fibre of the run's last iteration."""
    floor = run.scenario.floor
    pairs = {"fibre": fibre_pairs(run), "thz": thz_pairs(run)}
    shown = floor.racks <= MOST_RACKS
    return {
        "racks": {name: f.to_dict(as_series=False) if shown else None for name, f in pairs.items()},
        "groups": {
            name: group_pairs(f, floor.lanes).to_dict(as_series=False) for name, f in pairs.items()
        },
        "fibres": fibre_loads(run, drawn),
    }


def group_pairs(pairs: pl.DataFrame, lanes: int) -> pl.DataFrame:
    """Bytes from ring to ring, or from row to row."""
    ends = [pl.col(end) // lanes for end in ("src", "dst")]
    return pairs.group_by(ends).agg(pl.col("bytes").sum()).sort("src", "dst")


def thz_pairs(run: Run) -> pl.DataFrame:
    """Bytes that every rack sent to every other over THz."""
    sent = run.tables["transmissions"]
    return sent.group_by("src", "dst").agg(pl.col("bytes").sum()).sort("src", "dst")


def fibre_pairs(run: Run) -> pl.DataFrame:
    """Bytes that every rack sent to every other over fibre."""
    wired = run.tables["chunks"].filter(pl.col("carrier") == FIBRE)
    last = pl.col("chunk") == pl.col("chunks") - 1
    tail = pl.col("bytes") - (pl.col("chunks") - 1) * pl.col("chunk_bytes")
    sized = wired.join(run.flows, on=["number", "flow"]).with_columns(
        pl.when(last).then(tail).otherwise(pl.col("chunk_bytes")).alias("size")
    )
    grouped = sized.group_by("src", "dst").agg(pl.col("size").sum().alias("bytes"))
    return grouped.sort("src", "dst")


def fibre_loads(run: Run, drawn: Lines | None = None) -> dict[str, list[Any]]:
    """Every fibre that carried something: its bytes, background bytes, mean and peak load."""
    start_ps, end_ps = window_ps(run)
    window_s = (end_ps - start_ps) * 1e-12
    span_s = (pl.col("end_ps") - pl.col("start_ps")) * 1e-12
    carried = pl.col("bytes") + pl.col("background_bytes")
    loads = (
        fibre_samples(run, drawn=drawn)
        .group_by("fibre")
        .agg(
            pl.col("bytes", "background_bytes").sum(),
            (8 * carried.sum() / (pl.col("rate_bps").first() * window_s)).alias("mean"),
            (8 * carried / (pl.col("rate_bps") * span_s)).max().alias("peak"),
        )
        .sort("fibre")
    )
    rounded = pl.col("mean", "peak").map_elements(lambda v: short(v, 3), pl.Float64)
    return loads.with_columns(rounded).to_dict(as_series=False)
