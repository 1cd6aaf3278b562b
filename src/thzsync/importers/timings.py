"""Production op timings in the layout of ByteDance's straggler analysis: Parquet, no byte sizes.

A row is one operation of one worker in one step: a forward or backward pass of a micro-batch, one
end of a transfer between stages, or a collective at either end of the step.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from thzsync.errors import ThzSyncError
from thzsync.importers.importer import ReadOptions
from thzsync.importers.pipeline import Row, StepSizes, Worker, step_sizes
from thzsync.importers.ranks import Recording

if TYPE_CHECKING:
    import polars as pl

COLUMNS: Final = ("dp_rank", "stage", "step", "optype", "start_ts", "duration", "seq_id")
_MOST_ROWS: Final = 20_000_000
_PARQUET: Final = b"PAR1"


class TimingsImporter:
    """Reads one step of a job; by default the median one."""

    name = "timings"
    title = "Op timings (straggler analysis)"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Recognise a Parquet file."""
        return head[:4] == _PARQUET

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        """The workers of one step as ranks, stage by stage."""
        if len(paths) != 1:
            raise ThzSyncError(f"{paths[1]}: one file has all workers; name one file")
        steps = read_steps(paths[0])
        step = choose_step(steps, options.step, paths[0])
        return record(step, step_sizes(options, step.stages, step.replicas, paths[0]), paths[0])


@dataclass(frozen=True, eq=False)
class TimedStep:
    """Operations of all workers in one step."""

    number: int
    stages: int
    replicas: int
    rows: dict[tuple[int, int], list[Row]]
    """Operations by stage and replica, in order of time."""

    @property
    def recorded_s(self) -> float:
        """Time from the first operation's start to the last one's end [s]."""
        rows = [row for of_worker in self.rows.values() for row in of_worker]
        return max(r.start_s + r.duration_s for r in rows) - min(r.start_s for r in rows)


def read_steps(path: Path) -> dict[int, TimedStep]:
    """All steps of a file, by number."""
    with _silence():
        frame = _frame(path)
    stages = int(frame["stage"].max()) + 1  # type: ignore[arg-type]
    replicas = int(frame["dp_rank"].max()) + 1  # type: ignore[arg-type]
    steps: dict[int, TimedStep] = {}
    for values in frame.sort("step", "start_ts", "optype", "seq_id").iter_rows():
        replica, stage, number, name, start_s, duration_s, micro = values
        step = steps.setdefault(number, TimedStep(number, stages, replicas, {}))
        rows = step.rows.setdefault((stage, replica), [])
        rows.append(Row(name, micro, start_s, duration_s))
    for step in steps.values():
        if len(step.rows) < stages * replicas:
            raise ThzSyncError(
                f"{path}: step {step.number} has {len(step.rows)} of {stages * replicas} workers; "
                "choose another with --step"
            )
    return steps


def _frame(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        lazy = pl.scan_parquet(path)
        missing = [c for c in COLUMNS if c not in lazy.collect_schema()]
        if missing:
            raise ThzSyncError(
                f"{path}: column {missing[0]} is missing; it must have {', '.join(COLUMNS)}"
            )
        rows = int(lazy.select(pl.len()).collect().item())
        if not 0 < rows <= _MOST_ROWS:
            raise ThzSyncError(f"{path}: holds {rows} rows; use 1 to {_MOST_ROWS}")
        whole = ("dp_rank", "stage", "step", "seq_id")
        frame = lazy.select(
            pl.col(c).cast(pl.Int64 if c in whole else pl.String if c == "optype" else pl.Float64)
            for c in COLUMNS
        ).collect()
    except FileNotFoundError:
        raise ThzSyncError(f"{path}: no such file; check the path") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = (str(error).splitlines() or ["damaged"])[0][:120]
        raise ThzSyncError(f"{path}: cannot be read as Parquet ({reason})") from None
    _check_values(frame, path)
    return frame


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress what Polars prints about a damaged file, besides the error that it raises."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _check_values(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    sound = (
        pl.all_horizontal(pl.col(COLUMNS).is_not_null())
        & pl.col("start_ts").is_finite()
        & pl.col("duration").is_finite()
        & (pl.col("duration") >= 0)
        & pl.col("dp_rank").is_between(0, 1 << 20)
        & pl.col("stage").is_between(0, 1 << 20)
    )
    bad = frame.with_row_index("row").filter(~sound)
    if bad.height:
        raise ThzSyncError(
            f"{path}: row {bad['row'][0]}: empty, negative or not a number; record it again"
        )


def choose_step(steps: dict[int, TimedStep], number: int | None, path: Path) -> TimedStep:
    """The step with this number, or the one of median duration."""
    if number is None:
        by_length = sorted(steps.values(), key=lambda s: (s.recorded_s, s.number))
        return by_length[len(by_length) // 2]
    if number not in steps:
        listed = ", ".join(map(str, sorted(steps)[:8]))
        raise ThzSyncError(f"{path}: --step: no step {number}; it has {listed} ...")
    return steps[number]


def record(step: TimedStep, sizes: StepSizes, path: Path) -> Recording:
    """Workers as ranks: stage by stage, replica by replica, numbered as in Megatron."""
    passed_over: Counter[str] = Counter()
    ranks = {}
    for (stage, replica), rows in sorted(step.rows.items()):
        place = f"{path}: step {step.number}, stage {stage}, replica {replica}"
        worker = Worker(stage, replica, step.stages, step.replicas, sizes, place)
        ranks[worker.rank] = worker.run(rows, passed_over)
    return Recording(str(path), ranks, passed_over, step.recorded_s)
