"""A sweep is its plan's runs, whoever computes them, and nothing is done twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.studies.sweeps import POLICIES, SMALL, outcome, stored
from thzsync import Scenario, simulate
from thzsync.errors import ThzSyncError
from thzsync.experiments.runs import Tally, execute
from thzsync.experiments.statistics import interval95
from thzsync.studies import Sweep, sweep
from thzsync.studies.sweeping import merge, plan_sweep, prepared

TINY = Scenario.preset("tiny")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small sweep, done in this process and kept."""
    folder = tmp_path_factory.mktemp("sweeps") / "whole"
    sweep("tiny", **SMALL, workers=1, out=folder)
    return folder


def test_the_table_holds_what_single_runs_hold(whole: Path) -> None:
    frame = Sweep.load(whole).frame
    alone = simulate(TINY.with_(thz__max_power_w=0.2), "fixed-ratio", iterations=1, seed=1)
    found = frame.filter(
        pl.col("thz.max_power_w") == 0.2, pl.col("policy") == "fixed-ratio", pl.col("seed") == 1
    )
    assert found.select(alone.iterations.columns).equals(alone.iterations)
    assert frame.height == 8


def test_the_summary_has_paired_differences_to_the_first_policy(whole: Path) -> None:
    found = Sweep.load(whole)
    assert [(r["thz.max_power_w"], r["policy"]) for r in found.rows] == [
        (power, policy) for power in (0.05, 0.2) for policy in POLICIES
    ]
    energy = {
        policy: found.seed_means({"thz.max_power_w": 0.2}, policy)["energy_j"].to_numpy()
        for policy in POLICIES
    }
    mean, half = interval95(energy["fixed-ratio"] - energy["all-wired"])
    row = found.rows[-1]
    assert (row["diff_energy_j"], row["ci95_diff_energy_j"]) == (mean, half)
    assert found.summary.height == 4


def test_processes_give_the_same_bytes_as_this_process(whole: Path, tmp_path: Path) -> None:
    sweep("tiny", **SMALL, workers=2, out=tmp_path / "two")
    assert outcome(tmp_path / "two") == outcome(whole)
    assert stored(tmp_path / "two") == stored(whole)
    ours, theirs = ((f / "sweep.json").read_text() for f in (tmp_path / "two", whole))
    assert ours == theirs


def test_shards_joined_give_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    plan = plan_sweep("tiny", SMALL)
    parts = []
    for k in (1, 2, 3):
        parts.append(tmp_path / f"part{k}")
        with prepared(plan, parts[-1]) as store:
            execute(plan.shard(k, 3), store, workers=1)
    joined = merge(parts, tmp_path / "joined")
    assert not joined.missing
    assert outcome(tmp_path / "joined") == outcome(whole)
    assert stored(tmp_path / "joined") == stored(whole)
    assert merge(parts[:1], tmp_path / "some").missing > 0


def test_parts_of_different_sweeps_are_not_joined(whole: Path, tmp_path: Path) -> None:
    sweep("tiny", **SMALL | {"seeds": 1}, workers=1, out=tmp_path / "other")
    with pytest.raises(ThzSyncError, match=str(tmp_path / "other")):
        merge([whole, tmp_path / "other"], tmp_path / "joined")


def tallies(folder: Path, **changes: Any) -> list[Tally]:
    seen: list[Tally] = []
    sweep("tiny", **SMALL | changes, workers=1, out=folder, resume=True, watch=seen.append)
    return seen


def test_resuming_does_only_what_is_missing_or_damaged(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "resumed"
    first = tallies(folder)
    assert (first[0].done, first[-1].done) == (0, 8)
    assert [t.done for t in tallies(folder)] == [8]
    damaged, removed, *_ = sorted((folder / "finished").iterdir())
    damaged.write_bytes(damaged.read_bytes()[:100])
    removed.unlink()
    (folder / "finished/.half.parquet.tmp").write_bytes(b"PAR1")
    again = tallies(folder)
    assert (again[0].kept, again[-1].done) == (6, 8)
    assert outcome(folder) == outcome(whole)
    assert not list(folder.glob("*/.*"))


def test_resuming_with_more_seeds_keeps_the_finished_ones(tmp_path: Path) -> None:
    folder = tmp_path / "grown"
    tallies(folder)
    more = tallies(folder, seeds=3)
    assert (more[0].kept, more[-1].total) == (8, 12)


def test_a_finished_sweep_is_neither_continued_nor_replaced_unasked(
    whole: Path, tmp_path: Path
) -> None:
    before = stored(whole)
    with pytest.raises(ThzSyncError, match="--resume"):
        sweep("tiny", **SMALL, workers=1, out=whole)
    assert stored(whole) == before
    (tmp_path / "mine.txt").touch()
    sweep("tiny", **SMALL | {"seeds": 1}, workers=1, out=tmp_path, force=True)
    sweep("tiny", **SMALL | {"seeds": [5]}, workers=1, out=tmp_path, force=True)
    assert len(stored(tmp_path)) == 4, "the old sweep's runs are gone"
    assert (tmp_path / "mine.txt").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_fails_is_recorded_and_stops_no_other(tmp_path: Path, workers: int) -> None:
    options = SMALL | {"axes": {"channel.gains_file": [None, str(tmp_path / "none.csv")]}}
    found = sweep("tiny", **options, workers=workers, out=tmp_path / "out")
    assert found.frame.height == 4
    assert len(found.failures) == 4
    assert "none.csv" in found.failures[0]["error"]
    assert not json.loads((tmp_path / "out/sweep.json").read_text())["complete"]
    assert len(list((tmp_path / "out/failed").iterdir())) == 4


def test_an_axis_may_leave_a_key_out(tmp_path: Path) -> None:
    options = SMALL | {"axes": {"thz.rf_chains": [None, 1]}}
    found = sweep("tiny", **options, workers=1, out=tmp_path / "out")
    assert [row["thz.rf_chains"] for row in found.rows] == [None, None, 1, 1]
    assert Sweep.load(tmp_path / "out").rows == found.rows
    assert len(found.plot().axes[0].get_xticklabels()) == 2


def test_a_sweep_of_which_every_run_fails_says_why(tmp_path: Path) -> None:
    options = SMALL | {"set": {"channel.gains_file": str(tmp_path / "none.csv")}}
    with pytest.raises(ThzSyncError, match=r"none\.csv"):
        sweep("tiny", **options, workers=1)


def test_a_loaded_sweep_is_the_one_that_was_saved(whole: Path) -> None:
    found = Sweep.load(whole)
    assert found.document() == sweep("tiny", **SMALL, workers=1).document()
    with pytest.raises(ThzSyncError, match=r"sweep\.json"):
        Sweep.load(whole / "figures")


def test_a_sweep_as_a_pandas_frame(whole: Path) -> None:
    pytest.importorskip("pandas", reason="needs the extra pandas")
    pytest.importorskip("pyarrow", reason="needs the extra pandas")
    found = Sweep.load(whole)
    assert list(found.to_pandas().columns) == found.frame.columns
