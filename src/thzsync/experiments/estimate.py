"""About how long some runs take, and how much memory and disk, worked out before they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final

from thzsync.experiments.runs import Task
from thzsync.experiments.store import Store
from thzsync.feasibility import Asked, Effort, effort_of

START_S: Final = 2.0
"""What a worker needs to start and to load compiled kernels [s]."""
FILE_BYTES: Final = 8000
"""A run's file without any iteration, about [bytes]."""
ROW_BYTES: Final = 160
"""What a further iteration adds to a run's file, at most: its numbers, uncompressed [bytes]."""


@dataclass(frozen=True)
class Estimate:
    """The cost of some runs."""

    runs: int = 0
    realisations: int = 0
    cpu_s: float = 0.0
    """Time of all runs on one core of a machine of pace 1 [s]."""
    disk_bytes: int = 0
    memory_bytes: float = 0.0
    """Of the largest run."""

    def wall_s(self, workers: int) -> float:
        """Time with some workers, each on a core of its own [s]."""
        return START_S + self.cpu_s / max(1, min(workers, self.runs))


def estimate(
    tasks: Sequence[Task], store: Store | None = None, changes: Mapping[str, Any] | None = None
) -> Estimate:
    """The mean over every contender at the first and the last point, for all runs.

    What the ``store`` holds costs nothing; ``changes`` to all scenarios ask what would be if.
    """
    known = store or Store()
    missing = [task for task in tasks if known.finished(task.key) is None]
    wanted = list({task.key: task for task in missing}.values())
    if not wanted:
        return Estimate()
    efforts = [_effort(task, changes) for task in _ends(missing)]
    references_s = fmean(effort.references_s for effort in efforts)
    run_s = fmean(effort.seconds - effort.references_s for effort in efforts)
    needed = {task.references for task in wanted}
    unknown = [key for key in needed if known.references(key) is None]
    return Estimate(
        len(wanted),
        len(unknown),
        len(unknown) * references_s + len(wanted) * run_s,
        2 * sum(FILE_BYTES + ROW_BYTES * task.iterations for task in wanted),
        max(effort.memory_bytes for effort in efforts),
    )


def _effort(task: Task, changes: Mapping[str, Any] | None) -> Effort:
    scenario = task.scenario.with_(changes) if changes else task.scenario
    policy = replace(task, scenario=scenario).new_policy()
    return effort_of(Asked.of(scenario, policy, task.iterations, kept=False, seed=task.seed))


def _ends(tasks: Sequence[Task]) -> list[Task]:
    """A run of every contender at the first and the last point."""
    ends = {min(task.point for task in tasks), max(task.point for task in tasks)}
    return list({(t.point, t.name): t for t in reversed(tasks) if t.point in ends}.values())
