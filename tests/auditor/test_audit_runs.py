"""Recorded runs of the engine under the auditor, sound and damaged, from memory and from disk."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from thzsync.auditor import CHECKS, audit
from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation import Run, simulate

POLICIES = ("all-wired", "all-wireless", "fixed-ratio")


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    tiny = Scenario.preset("tiny")
    first = simulate(tiny, POLICIES[0], 2, seed=3)
    others = {p: simulate(tiny, p, 2, seed=3, references=first.references) for p in POLICIES[1:]}
    return {POLICIES[0]: first, **others}


def damaged(run: Run, table: str, **columns: pl.Expr) -> Run:
    tables = run.tables | {table: run.tables[table].with_columns(**columns)}
    return replace(run, tables=tables)


def first_row(column: str, value: pl.Expr) -> pl.Expr:
    """A column with another value in the first row."""
    return pl.when(pl.int_range(pl.len()) == 0).then(value).otherwise(pl.col(column))


@pytest.mark.parametrize("policy", POLICIES)
def test_runs_of_the_engine_are_sound(runs: dict[str, Run], policy: str) -> None:
    verdict = audit(runs[policy])
    assert verdict.violations == []
    assert verdict.checks["chunk_times"] == runs[policy].tables["chunks"].height


def test_another_seed_means_another_channel_and_others_late(runs: dict[str, Run]) -> None:
    run = runs["all-wireless"]
    broken = audit(Run(run.scenario, run.policy, 4, run.references, run.tables)).broken
    assert {"gain", "stragglers", "background"} <= set(broken)


@pytest.mark.parametrize(
    ("table", "column", "value", "check"),
    [
        ("chunks", "carrier", 1 - pl.col("carrier"), "fabric"),
        ("chunks", "chunk", pl.col("chunk") + 1, "chunks_once"),
        ("chunks", "ready_ps", pl.col("ready_ps") - 10**9, "chunk_times"),
        ("chunks", "end_ps", pl.col("end_ps") - 1, "fabric"),
        ("transmissions", "subband", pl.col("subband") + 4, "half_duplex"),
        ("transmissions", "power_w", pl.col("power_w") * 1.5, "energy"),
        ("transmissions", "power_w", pl.col("power_w") + 1, "power_cap"),
        ("transmissions", "power_w", pl.col("power_w") * 0.5, "rate"),
        ("transmissions", "gain", pl.col("gain") * 2, "gain"),
        ("transmissions", "bytes", pl.col("bytes") + 1, "transmission_bytes"),
        ("transmissions", "start_ps", pl.col("start_ps") + 1, "round_span"),
        ("rounds", "start_ps", pl.col("start_ps") - 1, "round_span"),
        ("links", "bytes", pl.col("bytes") + 1, "link_bytes"),
        ("events", "end_ps", pl.col("end_ps") + 1, "event_end"),
        ("events", "thz_energy_j", pl.col("thz_energy_j") + 1, "energy"),
        ("events", "reward", pl.col("reward") + 1, "reward"),
        ("events", "payload_bytes", pl.col("payload_bytes") + 1, "blocks"),
        ("tasks", "duration_ps", pl.col("duration_ps") + 1, "task_duration"),
        ("tasks", "end_ps", pl.col("end_ps") + 10**10, "graph_precedence"),
    ],
)
def test_damage_to_a_run_of_the_engine_is_named(
    runs: dict[str, Run], table: str, column: str, value: pl.Expr, check: str
) -> None:
    run = damaged(runs["fixed-ratio"], table, **{column: first_row(column, value)})
    assert check in audit(run).broken


def test_the_order_of_rows_means_nothing(runs: dict[str, Run]) -> None:
    run = runs["fixed-ratio"]
    rng = np.random.default_rng(1)
    mixed = {name: t[rng.permutation(t.height)] for name, t in run.tables.items()}
    shuffled = audit(replace(run, tables=mixed))
    assert shuffled == audit(run)


def test_a_saved_run_is_audited_from_disk(runs: dict[str, Run], tmp_path: Path) -> None:
    run = runs["all-wireless"]
    from_disk = audit(Run.load(run.save(tmp_path / "run")))
    told = {name: from_disk.checks[name] for name in ("declaration", "references")}
    assert from_disk.ok
    assert from_disk.checks == {**audit(run).checks, **told}


# -- the command ----------------------------------------------------------------------------------


def test_the_command_prints_every_check_and_exits_with_0(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = runs["fixed-ratio"].save(tmp_path / "run")
    assert main(["audit", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert all(check.__name__ in shown for check in CHECKS)


def test_the_json_document_has_checks_and_violations(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = runs["fixed-ratio"].save(tmp_path / "run")
    assert main(["audit", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"checks": audit(Run.load(folder)).checks, "violations": []}


def test_violations_are_listed_counted_and_exit_with_1(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = damaged(runs["fixed-ratio"], "transmissions", gain=pl.col("gain") * 1.001)
    folder = run.save(tmp_path / "run")
    assert main(["audit", str(folder)]) == 1
    shown = capsys.readouterr().out
    violations = audit(run).violations
    told = [f"{v.check}: {v.place}: {v.message}" for v in violations[:20]]
    assert [line for line in shown.splitlines() if line.startswith("gain: ")] == told
    assert f" {len(violations) - 20} " in shown
    assert main(["audit", str(folder), "--json"]) == 1
    (first, *_) = json.loads(capsys.readouterr().out)["violations"]
    assert first["check"] == "gain"
    assert {"check", "place", "message"} == set(first)


@pytest.mark.parametrize("damage", ["folder", "table", "half"])
def test_a_damaged_folder_is_one_line_and_exit_2(
    runs: dict[str, Run], tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    folder = runs["all-wired"].save(tmp_path / "run")
    table = folder / "chunks.parquet"
    if damage == "folder":
        folder = tmp_path / "elsewhere"
    elif damage == "table":
        table.unlink()
    else:
        table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])
    assert main(["audit", str(folder)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    with pytest.raises(ThzSyncError):
        Run.load(folder)


def test_a_floor_of_many_fibres_is_sampled_as_the_auditor_expects() -> None:
    """56 rings of 9 slots: 4,088 fibres, but numbers for more than 4,096."""
    small = {"jobs.0.rings": 2, "jobs.0.lanes": 3, "optical.background.load": 0.0}
    floor = {"floor.rings": 56, "floor.slots_per_ring": 9}
    scenario = changed(Scenario.preset("tiny"), floor | small, "test")
    assert not audit(simulate(scenario, "all-wired", 1, references={})).violations
