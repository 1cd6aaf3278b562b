"""An audit looks at some events at a time: the verdict is that of the whole, the memory is not."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from thzsync.auditor import CHECKS, IN_PARTS, audit, record
from thzsync.auditor.record import Record
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate

LARGE = 10**9


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(Scenario.preset("tiny"), "fixed-ratio", 2, seed=3, references={})


@pytest.fixture(scope="module")
def two_jobs() -> Run:
    values = Scenario.preset("tiny").model_dump(mode="json", exclude_none=True)
    (job,) = values["jobs"]
    jobs = [job | {"rings": 1, "first_ring": ring, "name": f"job {ring}"} for ring in range(2)]
    training = {"moe_stages": [0]}
    jobs = [job | {"training": job["training"] | training} for job in jobs]
    return simulate(
        Scenario.model_validate(values | {"jobs": jobs}), "fixed-ratio", 2, 0, references={}
    )


def in_parts(run: Run, rows: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(record, "PART_ROWS", rows)
    return audit(run)


@pytest.mark.parametrize("rows", [1, 50, 400])
@pytest.mark.parametrize("name", ["run", "two_jobs"])
def test_parts_hold_all_facts_of_the_whole(
    name: str, rows: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = request.getfixturevalue(name)
    whole = in_parts(run, LARGE, monkeypatch)
    assert whole.violations == []
    assert in_parts(run, rows, monkeypatch) == whole


def test_every_row_is_in_one_part(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "PART_ROWS", 50)
    whole = Record(run)
    parts = list(whole.parts())
    assert len(parts) == whole.part_count > 10
    for table in ("events", "blocks", "flows", "chunks", "rounds", "transmissions"):
        frames = [getattr(part, table).frame for part in parts]
        assert pl.concat(frames).equals(getattr(whole, table).frame)
    sooner = np.cumsum([0, *(len(part.flows) for part in parts)])
    assert [part.first_flow for part in parts] == sooner[:-1].tolist()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("chunks", "carrier", 1 - pl.col("carrier")),
        ("chunks", "flow", pl.col("flow") + 1000),
        ("chunks", "number", pl.col("number") + 1000),
        ("chunks", "number", None),
        ("chunks", "ready_ps", pl.col("ready_ps") + 1),
        ("chunks", "end_ps", pl.col("end_ps") - 10**7),
        ("flows", "number", pl.col("number") + 1000),
        ("flows", "bytes", pl.col("bytes") + 1),
        ("events", "end_ps", pl.col("end_ps") + 1),
        ("transmissions", "power_w", pl.col("power_w") * 1.5),
        ("transmissions", "end_ps", pl.col("end_ps") + 10**6),
        ("links", "bytes", pl.col("bytes") + 1),
    ],
)
def test_parts_break_where_the_whole_does(
    run: Run, table: str, column: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = run.tables[table]
    middle = pl.int_range(pl.len()) == frame.height // 2
    forged = pl.when(middle).then(pl.lit(value) if value is None else value).otherwise(column)
    frame = frame.with_columns(forged.cast(frame.schema[column]).alias(column))
    damaged = replace(run, tables=run.tables | {table: frame})
    whole, parted = (in_parts(damaged, rows, monkeypatch) for rows in (LARGE, 50))
    assert whole.broken
    assert parted.checks == whole.checks
    assert Counter(parted.violations) == Counter(whole.violations)


def test_the_order_of_rows_means_nothing_in_parts(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    mixed = {name: t[rng.permutation(t.height)] for name, t in run.tables.items()}
    shuffled = replace(run, tables=mixed)
    assert in_parts(shuffled, 50, monkeypatch) == in_parts(run, LARGE, monkeypatch)


def test_two_iterations_more_take_little_memory_more(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.preset("tiny").with_({"jobs.0.training.allreduce_bytes": 192 * 2**20})
    few, many = (simulate(scenario, "fixed-ratio", n, 0, references={}) for n in (1, 3))
    monkeypatch.setattr(record, "PART_ROWS", 2048)
    assert audit(few).ok, "warm"
    peaks = []
    for run in (few, many):
        tracemalloc.start()
        assert audit(run).ok
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    rows = many.tables["chunks"].height - few.tables["chunks"].height
    assert peaks[1] - peaks[0] < 32 * rows, "a table as large as that of the chunks"


def test_whoever_asks_is_told_which_check_is_under_way(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "PART_ROWS", 400)
    told: list[tuple[float, str]] = []
    audit(run, tell=lambda done, name: told.append((done, name)))
    parts = Record(run).part_count
    times = Counter(name for _, name in told)
    assert times == {c.__name__: parts if c in IN_PARTS else 1 for c in CHECKS} | {"done": 1}
    assert sum(done for done, _ in told) == pytest.approx(len(CHECKS))
