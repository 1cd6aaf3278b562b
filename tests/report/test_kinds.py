"""Collectives are an open family: any name has a label, a colour and a place."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from thzsync.display.kinds import KINDS, kind_look, ordered
from thzsync.experiments.compare import Comparison
from thzsync.report import Results, write_report
from thzsync.report.data import report_data

COLOUR = re.compile(r"#[0-9a-f]{6}")


def test_every_built_in_collective_has_its_own_colours() -> None:
    looks = [kind_look(kind) for kind in KINDS]
    assert len(looks) == 10
    assert len({look.light for look in looks}) == len(looks)
    assert len({look.dark for look in looks}) == len(looks)


def test_an_unknown_name_keeps_its_name_and_always_has_the_same_colour() -> None:
    look = kind_look("halving-doubling")
    assert look == kind_look("halving-doubling")
    assert look.label == "halving-doubling"
    assert COLOUR.fullmatch(look.light)
    assert COLOUR.fullmatch(look.dark)
    assert look.light != kind_look("another").light


def test_our_collectives_come_first_and_others_by_name() -> None:
    assert ordered(["zz", "barrier", "a2a", "aa", "p2p"]) == ["p2p", "a2a", "barrier", "aa", "zz"]


def test_a_report_draws_collectives_that_nobody_foresaw(
    comparison: Comparison, tmp_path: Path
) -> None:
    def other(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("kind").replace({"a2a": "all-gather", "p2p": "my <own>"}))

    details = {
        policy: replace(run, tables=run.tables | {"events": other(run.events)})
        for policy, run in comparison.details.items()
    }
    changed = replace(comparison, events=other(comparison.events), details=details)
    results = Results("compare", tmp_path, changed, changed.rows(), 0, changed.document())
    data = report_data(results)
    assert list(data["kinds"]) == ["allreduce", "all-gather", "my <own>"]
    lanes = {row["lane"] for row in data["closeups"]["fixed-ratio"]["timeline"]["rows"]}
    assert lanes == {"compute", *data["kinds"]}
    assert "my <own>" not in write_report(results).read_text("utf-8")


def test_several_jobs_share_one_picture(comparison: Comparison, tmp_path: Path) -> None:
    """A `job` column in the iterations: two rows per iteration, one of them later and longer."""

    def twice(frame: pl.DataFrame) -> pl.DataFrame:
        second = frame.with_columns(
            pl.col("end_ps") + 10**9, completion_ms=pl.col("completion_ms") * 3, job=pl.lit("b")
        )
        return pl.concat([frame.with_columns(job=pl.lit("a")), second])

    details = {
        policy: replace(run, tables=run.tables | {"iterations": twice(run.iterations)})
        for policy, run in comparison.details.items()
    }
    both = replace(comparison, iterations=twice(comparison.iterations), details=details)
    results = Results("compare", tmp_path, both, both.rows(), 0, both.document())
    data = report_data(results)
    alone = report_data(replace(results, fabric=comparison, rows=comparison.rows()))
    for policy in comparison.policies:
        mine, single = (d["curves"]["series"][policy] for d in (data, alone))
        assert mine["iteration"] == single["iteration"]
        means = zip(mine["completion_ms"]["mean"], single["completion_ms"]["mean"], strict=True)
        assert all(abs(m / (2 * s) - 1) < 1e-4 for m, s in means)
        ends = [d["closeups"][policy]["timeline"]["end"] for d in (data, alone)]
        assert ends[0] > ends[1]
