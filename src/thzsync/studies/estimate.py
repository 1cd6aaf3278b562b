"""What a sweep would take, by what its scenarios ask for; nothing is simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from thzsync.experiments.outlook import run_effort
from thzsync.feasibility import Effort
from thzsync.studies.plan import PlannedRun

START_S: Final = 2.0
"""What a worker needs to start and to load compiled kernels [s]."""
FILE_BYTES: Final = 8000
"""A run's file without any iteration, about [bytes]."""
ROW_BYTES: Final = 160
"""What a further iteration adds to a run's file, at most: its numbers, uncompressed [bytes]."""


@dataclass(frozen=True)
class Estimate:
    """The cost of a plan."""

    runs: int
    realisations: int
    cpu_s: float
    """Time of all runs on one core of a machine of pace 1 [s]."""
    disk_bytes: int
    memory_bytes: float
    """Of the largest run."""

    def wall_s(self, workers: int) -> float:
        """Time with some workers, each on a core of its own [s]."""
        return START_S + self.cpu_s / max(1, min(workers, self.runs))


def estimate(
    runs: Sequence[PlannedRun],
    prepared: Collection[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> Estimate:
    """The mean over every contender at the first and the last point, for all runs.

    ``prepared`` are the keys of references that are known already; ``changes`` to all scenarios
    ask what would be if.
    """
    wanted = list({run.key: run for run in runs}.values())
    if not wanted:
        return Estimate(0, 0, 0.0, 0, 0.0)
    efforts = [_effort(run, changes) for run in _ends(runs)]
    references_s = fmean(effort.references_s for effort in efforts)
    run_s = fmean(effort.seconds - effort.references_s for effort in efforts)
    unknown = {run.realisation.reference_key for run in wanted} - set(prepared)
    return Estimate(
        len(wanted),
        len(unknown),
        len(unknown) * references_s + len(wanted) * run_s,
        2 * sum(FILE_BYTES + ROW_BYTES * run.iterations for run in wanted),
        max(effort.memory_bytes for effort in efforts),
    )


def _effort(run: PlannedRun, changes: Mapping[str, Any] | None) -> Effort:
    scenario = run.realisation.scenario
    own = scenario.with_(changes) if changes else scenario
    return run_effort(own, run.contender.policy, run.iterations, run.seed)


def _ends(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    """A run of every contender at the first and the last point."""
    ends = {min(run.point for run in runs), max(run.point for run in runs)}
    return list(
        {(r.point, r.contender.name): r for r in reversed(runs) if r.point in ends}.values()
    )
