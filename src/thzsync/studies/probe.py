"""What a sweep would cost, from a few runs that are timed."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.studies.plan import PlannedRun
from thzsync.studies.task import reference_call, run_call
from thzsync.workers import Answer, Call, carry_out

PROBE_ITERATIONS: Final = 2
START_S: Final = 2.0
"""What a worker needs to start and to load compiled kernels [s]."""
ROW_BYTES: Final = 160
"""What a further iteration adds to a run's file, at most: its numbers, uncompressed [bytes]."""


@dataclass(frozen=True)
class Estimate:
    """The cost of a plan."""

    runs: int
    realisations: int
    cpu_s: float
    """Time of all runs on one core [s]."""
    disk_bytes: int

    def wall_s(self, workers: int) -> float:
        """Time with some workers, each on a core of its own [s]."""
        return START_S + self.cpu_s / max(1, min(workers, self.runs))


def estimate(runs: Sequence[PlannedRun], prepared: Collection[str] = ()) -> Estimate:
    """Time every contender at the first and the last point, and scale up.

    ``prepared`` are the keys of realisations whose references are known already.
    """
    wanted = list({run.key: run for run in runs}.values())
    realisations = len({run.realisation.key for run in wanted} - set(prepared))
    if not wanted:
        return Estimate(0, 0, 0.0, 0)
    _timed(reference_call(wanted[0].realisation))  # compiles or loads the kernels, untimed
    found = [_measure(probe) for probe in _probes(wanted)]
    reference_s, run_s, run_bytes = (fmean(column) for column in zip(*found, strict=True))
    cpu_s = realisations * reference_s + len(wanted) * run_s
    return Estimate(len(wanted), realisations, cpu_s, int(2 * len(wanted) * run_bytes))


def _measure(probe: PlannedRun) -> tuple[float, float, float]:
    """Seconds of its references, seconds of the run, bytes of the run."""
    steps = min(PROBE_ITERATIONS, probe.iterations)
    reference_s, references = _timed(reference_call(probe.realisation))
    run_s, answer = _timed(run_call(replace(probe, iterations=steps), references.payload))
    more_bytes = ROW_BYTES * (probe.iterations - steps)
    return reference_s, run_s * probe.iterations / steps, len(answer.payload) + more_bytes


def _probes(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    points = [run.point for run in runs]
    ends = {min(points), max(points)}
    found = {(run.point, run.contender.name): run for run in reversed(runs) if run.point in ends}
    return list(found.values())


def _timed(call: Call) -> tuple[float, Answer]:
    start = time.process_time()
    answer = carry_out(call)
    if answer.error is not None:
        raise ThzSyncError(f"a probe failed: {answer.error}")
    return time.process_time() - start, answer
