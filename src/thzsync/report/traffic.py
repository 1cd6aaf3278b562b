"""Where the bytes of one iteration went: rack to rack on each carrier, and fibre by fibre."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from thzsync.display.labels import short
from thzsync.records.run import Run
from thzsync.report.replay import link_bps
from thzsync.report.timeline import window_ps
from thzsync.topology import Topology

MOST_RACKS: Final = 128
"""Beyond this, a matrix of rack pairs is no picture any more; rings still are."""


def traffic(run: Run) -> dict[str, Any]:
    """Bytes per rack pair, per ring pair and per fibre of the run's last iteration."""
    topology = Topology(run.scenario.floor)
    pairs = {"fibre": fibre_pairs(run), "thz": thz_pairs(run)}
    shown = topology.racks <= MOST_RACKS
    return {
        "pairs": {
            name: frame.to_dict(as_series=False) if shown else None for name, frame in pairs.items()
        },
        "rings": {name: ring_matrix(frame, topology) for name, frame in pairs.items()},
        "links": link_loads(run),
    }


def thz_pairs(run: Run) -> pl.DataFrame:
    """Bytes that every rack sent to every other over THz."""
    sent = run.tables["transmissions"]
    return sent.group_by("src", "dst").agg(pl.col("bytes").sum()).sort("src", "dst")


def fibre_pairs(run: Run) -> pl.DataFrame:
    """Bytes that every rack sent to every other over fibre."""
    wired = run.tables["chunks"].filter(~pl.col("thz"))
    last = pl.col("chunk") == pl.col("chunks") - 1
    tail = pl.col("bytes") - (pl.col("chunks") - 1) * pl.col("chunk_bytes")
    sized = wired.join(run.flows, on=["number", "flow"]).with_columns(
        pl.when(last).then(tail).otherwise(pl.col("chunk_bytes")).alias("size")
    )
    grouped = sized.group_by("src", "dst").agg(pl.col("size").sum().alias("bytes"))
    return grouped.sort("src", "dst")


def ring_matrix(pairs: pl.DataFrame, topology: Topology) -> list[list[int]]:
    """Bytes from ring to ring."""
    matrix = [[0] * topology.groups for _ in range(topology.groups)]
    ring = topology.group_of_rack
    for src, dst, size in pairs.iter_rows():
        matrix[ring[src]][ring[dst]] += size
    return matrix


def link_loads(run: Run) -> dict[str, list[Any]]:
    """Every fibre that carried something: link, bytes, background bytes, mean and peak load."""
    start_ps, end_ps = window_ps(run)
    window_s = (end_ps - start_ps) * 1e-12
    span_s = (pl.col("end_ps") - pl.col("start_ps")) * 1e-12
    carried = pl.col("bytes") + pl.col("background_bytes")
    loads = (
        run.tables["links"]
        .with_columns(link_bps(run.scenario).alias("rate"))
        .group_by("link")
        .agg(
            pl.col("bytes", "background_bytes").sum(),
            (8 * carried.sum() / (pl.col("rate").first() * window_s)).alias("mean"),
            (8 * carried / (pl.col("rate") * span_s)).max().alias("peak"),
        )
        .sort("link")
    )
    rounded = pl.col("mean", "peak").map_elements(lambda v: short(v, 3), pl.Float64)
    return loads.with_columns(rounded).to_dict(as_series=False)
