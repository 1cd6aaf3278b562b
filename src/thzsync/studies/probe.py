"""What a sweep would cost: from a few runs that are timed, or reckoned where these take long."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final, NamedTuple

from thzsync.errors import ThzSyncError
from thzsync.experiments.outlook import run_effort
from thzsync.studies.plan import PlannedRun
from thzsync.studies.task import reference_call, run_call
from thzsync.workers import Answer, Call, carry_out

PROBE_ITERATIONS: Final = 2
MOST_PROBING_S: Final = 10.0
"""Probes that would take longer are not worth their time [s]."""
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
    """Time of all runs on one core [s]."""
    disk_bytes: int
    memory_bytes: float
    """Of the largest run."""

    def wall_s(self, workers: int) -> float:
        """Time with some workers, each on a core of its own [s]."""
        return START_S + self.cpu_s / max(1, min(workers, self.runs))


class _Cost(NamedTuple):
    """What one run takes."""

    reference_s: float
    run_s: float
    run_bytes: float
    memory_bytes: float


def estimate(runs: Sequence[PlannedRun], prepared: Collection[str] = ()) -> Estimate:
    """Time every contender at the first and the last point, and scale up.

    ``prepared`` are the keys of realisations whose references are known already. Where the probes
    themselves would take long, their cost is reckoned.
    """
    probes = _probes(runs)
    few = [replace(probe, iterations=min(PROBE_ITERATIONS, probe.iterations)) for probe in probes]
    if sum(cost.reference_s + cost.run_s for cost in map(_reckon, few)) > MOST_PROBING_S:
        return reckoned(runs, prepared)
    if probes:
        _timed(reference_call(probes[0].realisation))  # compiles or loads the kernels, untimed
    return _scaled(runs, prepared, [_measure(probe) for probe in probes])


def reckoned(
    runs: Sequence[PlannedRun],
    prepared: Collection[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> Estimate:
    """The same without simulating anything; ``changes`` to all scenarios ask what would be if."""
    return _scaled(runs, prepared, [_reckon(probe, changes) for probe in _probes(runs)])


def _scaled(
    runs: Sequence[PlannedRun], prepared: Collection[str], costs: Sequence[_Cost]
) -> Estimate:
    wanted = {run.key: run for run in runs}.values()
    realisations = len({run.realisation.reference_key for run in wanted} - set(prepared))
    if not wanted:
        return Estimate(0, 0, 0.0, 0, 0.0)
    reference_s, run_s, run_bytes, _ = (fmean(column) for column in zip(*costs, strict=True))
    cpu_s = realisations * reference_s + len(wanted) * run_s
    memory_bytes = max(cost.memory_bytes for cost in costs)
    disk_bytes = int(2 * len(wanted) * run_bytes)
    return Estimate(len(wanted), realisations, cpu_s, disk_bytes, memory_bytes)


def _reckon(probe: PlannedRun, changes: Mapping[str, Any] | None = None) -> _Cost:
    """By what its scenario asks for."""
    scenario, policy = probe.realisation.scenario, probe.contender.policy
    own = scenario.with_(changes) if changes else scenario
    effort = run_effort(own, policy, probe.iterations, probe.seed)
    run_bytes = FILE_BYTES + ROW_BYTES * probe.iterations
    run_s = effort.seconds - effort.references_s
    return _Cost(effort.references_s, run_s, run_bytes, effort.memory_bytes)


def _measure(probe: PlannedRun) -> _Cost:
    """By carrying out a few iterations."""
    steps = min(PROBE_ITERATIONS, probe.iterations)
    reference_s, references = _timed(reference_call(probe.realisation))
    run_s, answer = _timed(run_call(replace(probe, iterations=steps), references.payload))
    more_bytes = ROW_BYTES * (probe.iterations - steps)
    return _reckon(probe)._replace(
        reference_s=reference_s,
        run_s=run_s * probe.iterations / steps,
        run_bytes=len(answer.payload) + more_bytes,
    )


def _probes(runs: Sequence[PlannedRun]) -> list[PlannedRun]:
    points = sorted({run.point for run in runs})
    ends = {*points[:1], *points[-1:]}
    found = {(run.point, run.contender.name): run for run in reversed(runs) if run.point in ends}
    return list(found.values())


def _timed(call: Call) -> tuple[float, Answer]:
    start = time.process_time()
    answer = carry_out(call)
    if answer.error is not None:
        raise ThzSyncError(f"a probe failed: {answer.error}")
    return time.process_time() - start, answer
