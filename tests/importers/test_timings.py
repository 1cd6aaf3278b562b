"""Op timings of production jobs: replayed, they take as long as recorded, and so do what-ifs."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from tests.importers.files import shared
from thzsync.errors import ThzSyncError
from thzsync.importers import Placement, ReadOptions, Recording, Work, import_trace
from thzsync.importers.imported import merge_ranks
from thzsync.importers.pipeline import StepSizes
from thzsync.importers.stragglers import evened, typical, without_waiting
from thzsync.importers.timings import TimedStep, read_steps, record

SIZED = ReadOptions(p2p_bytes=1000, gradient_bytes=1000)


def replayed_s(recording: Recording) -> float:
    return merge_ranks(recording, Placement()).replayed_s


def recordings(steps: list[TimedStep], path: Path) -> list[Recording]:
    sizes = StepSizes(1000, (1000,) * steps[0].stages)
    return [without_waiting(record(step, sizes, path)) for step in steps]


@pytest.mark.parametrize("name", ["ST", "AR"])
def test_a_step_with_communication_as_recorded_takes_as_long_as_recorded(name: str) -> None:
    imported = import_trace(shared(f"straggler_bytedance/trace-{name}.parquet"), options=SIZED)
    assert imported.recorded_s is not None
    assert imported.replayed_s == pytest.approx(imported.recorded_s, rel=0.05)


@pytest.mark.parametrize(("name", "every"), [("ST", 4), ("AR", 15)])
def test_the_studys_own_what_ifs_are_met(name: str, every: int) -> None:
    """Slowdowns of the published analysis: as recorded, without, and with nothing but, its last
    stage (ms) or its slowest worker (mw)."""
    (path,) = shared(f"straggler_bytedance/trace-{name}.parquet")
    published = {
        key: json.loads((path.parent / f"{key}-{name}.json").read_text()) for key in ("ms", "mw")
    }
    steps = list(read_steps(path).values())[::every]
    given = recordings(steps, path)
    usual, everybody = typical(given), set(given[0].ranks)
    ideal_s = fmean(replayed_s(evened(r, usual, everybody)) for r in given)
    assert ideal_s == pytest.approx(published["ms"]["tideal"], rel=0.05)
    slowdown = fmean(map(replayed_s, given)) / ideal_s
    assert slowdown == pytest.approx(published["ms"]["tori"] / published["ms"]["tideal"], rel=0.05)

    replicas, last = steps[0].replicas, steps[0].stages - 1
    chosen = {"ms": {r for r in everybody if r // replicas == last}, "mw": {_slowest(given)}}
    for key, ranks in chosen.items():
        removed_s = fmean(replayed_s(evened(r, usual, ranks)) for r in given)
        added_s = fmean(replayed_s(evened(r, usual, everybody - ranks)) for r in given)
        of = published[key]
        assert removed_s / ideal_s == pytest.approx(of["trem"] / of["tideal"], rel=0.05)
        assert added_s / ideal_s == pytest.approx(of["tadd"] / of["tideal"], rel=0.05)


def _slowest(given: list[Recording]) -> int:
    def work_s(rank: int) -> float:
        parts = (part for recording in given for part in recording.ranks[rank])
        return sum(part.duration_s for part in parts if isinstance(part, Work))

    return max(given[0].ranks, key=work_s)


def rows() -> list[dict[str, object]]:
    """One micro-batch through a small pipeline; the second replica's first stage is slow."""
    found = []

    def add(stage: int, replica: int, name: str, start: float, length: float) -> None:
        found.append(
            {
                "dp_rank": replica, "stage": stage, "step": 3, "optype": name, "start_ts": start,
                "duration": length, "seq_id": 0,
            }
        )  # fmt: skip

    for replica in range(2):
        slow = 2.0 if replica else 1.0
        add(0, replica, "forward-compute", 0, slow)
        add(0, replica, "forward-send", slow, 0.5)
        add(1, replica, "forward-recv", 0, slow + 0.5)
        add(1, replica, "forward-compute", slow + 0.5, 1)
        add(1, replica, "backward-compute", slow + 1.5, 1)
        add(0, replica, "grads-reduce-scatter", slow, 2.25 - slow)
        add(1, replica, "grads-reduce-scatter", slow + 2.5, 2.25 - slow)
    return found


def write(tmp_path: Path, values: list[dict[str, object]]) -> Path:
    path = tmp_path / "t.parquet"
    pl.DataFrame(values).write_parquet(path)
    return path


def test_stragglers_become_compute_tasks_of_their_rank(tmp_path: Path) -> None:
    imported = import_trace([write(tmp_path, rows())], options=SIZED)
    graph = imported.trace.graph
    assert sorted(e.kind for e in graph.events) == [
        "p2p",
        "p2p",
        "reduce-scatter",
        "reduce-scatter",
    ]
    first = [task for task in graph.computes if task.stage == 0]
    assert [(task.rank, task.duration_s) for task in first] == [(0, 1.0), (1, 2.0)]
    assert imported.replayed_s == pytest.approx(4.75)
    assert imported.recorded_s == pytest.approx(4.75)


def test_sizes_come_from_the_zoo_or_from_options(tmp_path: Path) -> None:
    path = write(tmp_path, rows())
    with pytest.raises(ThzSyncError, match="--model"):
        import_trace([path])
    by_model = import_trace([path], options=ReadOptions(model="llama3-8b")).trace.graph
    p2p = next(e for e in by_model.events if e.kind == "p2p")
    assert p2p.payload_bytes == 4096 * 4096 * 2  # tokens x hidden x bfloat16
    gradients = sum(e.payload_bytes for e in by_model.events if e.kind == "reduce-scatter")
    assert gradients == pytest.approx(8.03e9 * 4, rel=0.01)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("duration", -1.0, "row 0: "),
        ("duration", float("nan"), "row 0: "),
        ("stage", None, "row 0: "),
        ("stage", 5, "5 of 12 "),
    ],
)
def test_rows_that_cannot_be_are_named(
    key: str, value: object, message: str, tmp_path: Path
) -> None:
    values = rows()
    values[0][key] = value
    with pytest.raises(ThzSyncError, match=message):
        import_trace([write(tmp_path, values)], options=SIZED)


def test_a_missing_column_and_a_missing_step_are_named(tmp_path: Path) -> None:
    values = [{k: v for k, v in row.items() if k != "seq_id"} for row in rows()]
    with pytest.raises(ThzSyncError, match="seq_id"):
        import_trace([write(tmp_path, values)], options=SIZED)
    options = ReadOptions(p2p_bytes=1, gradient_bytes=1, step=9)
    with pytest.raises(ThzSyncError, match=r"step 9; .*3"):
        import_trace([write(tmp_path, rows())], options=options)


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, rows())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ThzSyncError, match=path.name):
        import_trace([path], options=SIZED)


@pytest.mark.slow
def test_the_study_of_what_an_overlay_wins_back_runs(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "examples" / "traces" / "stragglers.py"
    study = runpy.run_path(str(script))["study"]
    found = study(write(tmp_path, rows()), "llama3-8b", 1, 2)
    slow_s, even_s = found["all-wired"]  # by seed
    assert len(slow_s) == 2
    assert (slow_s > even_s).all()  # the slow replica's stage takes a second longer than the other
    assert (even_s > 3.5).all()
