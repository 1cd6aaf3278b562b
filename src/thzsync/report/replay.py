"""One iteration over time: THz transmissions and fibre load, packed as integers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.network import network_of
from thzsync.records.run import Run
from thzsync.report.floor import Lines, lines
from thzsync.report.timeline import ticks, window_ps

MOST_TRANSMISSIONS: Final = 24_000
"""More than this are thinned to every k-th round, so that the report stays light."""
MOST_SAMPLES: Final = 60_000
"""More samples of fibre load than this are joined to longer spans."""
POLICIES_IN_FULL: Final = 2.5
"""So many policies have the above each; the more there are, the less each may have."""


def replay(run: Run, policies: int = 1, drawn: Lines | None = None) -> dict[str, Any]:
    """Transmissions in columns (start times as differences) and fibre load per span.

    With many ``policies`` on one page each gets a smaller share of it.
    """
    origin, _ = window_ps(run)
    share = min(1.0, POLICIES_IN_FULL / policies)
    sent, every = thin(run.tables["transmissions"], int(share * MOST_TRANSMISSIONS))
    sent = sent.sort("start_ps", "src", "subband", maintain_order=True)
    start = ticks(sent["start_ps"].to_numpy() - origin)
    end = ticks(sent["end_ps"].to_numpy() - origin)
    return {
        "start": np.diff(start, prepend=0).tolist(),
        "length": np.maximum(end - start, 1).tolist(),
        "src": sent["src"].to_list(),
        "dst": sent["dst"].to_list(),
        "subband": sent["subband"].to_list(),
        "kib": (sent["bytes"] // 1024).to_list(),
        "every": every,
        "spans": fibre_spans(fibre_samples(run, int(share * MOST_SAMPLES), drawn), origin),
    }


def thin(sent: pl.DataFrame, most: int = MOST_TRANSMISSIONS) -> tuple[pl.DataFrame, int]:
    """All transmissions, or those of every k-th round when there are too many; and k."""
    every = -(-sent.height // most) if sent.height else 1
    if every == 1:
        return sent, 1
    nth = pl.struct("number", "round").rank("dense") - 1
    return sent.filter(nth % every == 0), every


def merge_samples(fibres: pl.DataFrame, most: int = MOST_SAMPLES) -> pl.DataFrame:
    """Fibre samples, neighbouring spans joined until there are at most about ``most`` rows."""
    together = max(1, -(-fibres.height // most))
    span = (pl.col("start_ps").rank("dense") - 1) // together
    joined = fibres.with_columns(span.alias("span"))
    return (
        joined.with_columns(
            pl.col("start_ps").min().over("span"), pl.col("end_ps").max().over("span")
        )
        .group_by("start_ps", "end_ps", "fibre", maintain_order=True)
        .agg(pl.col("bytes", "background_bytes").sum(), pl.col("rate_bps").first())
    )


def fibre_samples(run: Run, most: int | None = None, drawn: Lines | None = None) -> pl.DataFrame:
    """What every fibre of the floor plan carried in every span: its links added up."""
    drawn, links = drawn or lines(network_of(run.scenario)), run.tables["links"]
    fibre = drawn.fibre[links["link"].to_numpy()]
    known = links.with_columns(fibre=fibre, rate_bps=drawn.rate_bps[fibre])
    return merge_samples(known, most or max(1, known.height))


def fibre_spans(samples: pl.DataFrame, origin_ps: int) -> list[dict[str, Any]]:
    """Per span its start and end, and the busy fibres with own and background load [permille]."""
    spans = []
    for (start, end), frame in samples.group_by("start_ps", "end_ps", maintain_order=True):
        full_bytes = frame["rate_bps"].to_numpy() * (int(end) - int(start)) * 1e-12 / 8
        loads = [
            np.rint(1e3 * frame[name].to_numpy() / full_bytes).astype(np.int64)
            for name in ("bytes", "background_bytes")
        ]
        busy = loads[0] + loads[1] > 0
        fibre, own, background = (c[busy].tolist() for c in (frame["fibre"].to_numpy(), *loads))
        bounds = {"start": ticks(int(start) - origin_ps), "end": ticks(int(end) - origin_ps)}
        spans.append(bounds | {"fibre": fibre, "own": own, "background": background})
    return spans
