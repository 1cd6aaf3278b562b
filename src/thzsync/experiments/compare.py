"""Several policies in the same realisations, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import polars as pl

from thzsync.coordinator import policy_names
from thzsync.errors import ThzSyncError, interrupted
from thzsync.experiments.comparison import Comparison
from thzsync.experiments.parallel import Failure, stream_runs
from thzsync.experiments.references import known_references, remember
from thzsync.experiments.under_way import counting
from thzsync.records import Fidelity, References
from thzsync.records.certificate import certify, judged_together, warn_beyond
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation import Run, reference_costs, simulate
from thzsync.simulation.simulator import REFERENCE_ITERATIONS
from thzsync.workers import Executor, open_executor
from thzsync.workers.call import in_one_line

__all__ = ["Comparison", "compare", "known_policies"]

ProgressBar = Callable[[float, int], None]
"""Is told how many of all runs are done, those under way by their shares."""


@dataclass(frozen=True)
class _Task:
    scenario: Scenario
    policy: str
    seed: int
    iterations: int
    references: References
    detailed: bool


@dataclass(frozen=True)
class _Result:
    iterations: pl.DataFrame
    events: pl.DataFrame
    detail: Run | None
    fidelity: Fidelity | None


def _references(task: tuple[Scenario, int]) -> References:
    return reference_costs(*task, counting(task[0], REFERENCE_ITERATIONS))


def _run(task: _Task) -> _Result:
    work = (task.scenario, task.policy, task.iterations, task.seed, task.references)
    with judged_together():
        stop = counting(task.scenario, task.iterations)
        run = simulate(*work, detailed=task.detailed, stop=stop)
    key = {"policy": task.policy, "seed": task.seed}
    columns = [pl.lit(value).alias(name) for name, value in key.items()]
    detail = run.last_iteration() if task.detailed else None
    events = run.events.drop("racks", "delay_ps", "power", "after")
    return _Result(
        run.iterations.select(*columns, pl.all()),
        events.select(*columns, pl.all()),
        detail,
        run.fidelity,
    )


def compare(
    scenario: ScenarioLike,
    policies: Sequence[str] = (),
    seeds: int | Sequence[int] = 5,
    iterations: int = 20,
    workers: int | None = None,
    progress: ProgressBar | None = None,
    rescue: Callable[[Comparison], None] | None = None,
    scheduler: str | None = None,
    prepare: ProgressBar | None = None,
) -> Comparison:
    """Run every policy in every seed; all see the same background, channel and stragglers.

    ``scheduler`` is the address of a Dask cluster to use instead of ``workers`` processes.
    ``prepare`` is told of the references, ``progress`` of the runs that follow them. When it
    is interrupted, ``rescue`` gets the seeds that every policy has finished. A seed in which a run
    fails is left out of all policies, and the failure is recorded. Warns if runs in flow fidelity
    are beyond their tolerance.
    """
    settings = [(Scenario.of(scenario), known_policies(policies))]
    how = (workers, progress, rescue, scheduler, prepare)
    found = compare_settings(settings, seeds, iterations, *how)[0]
    warn_beyond(found.fidelity)
    return found


def compare_settings(
    settings: Sequence[tuple[Scenario, tuple[str, ...]]],
    seeds: int | Sequence[int],
    iterations: int,
    workers: int | None = None,
    progress: ProgressBar | None = None,
    rescue: Callable[[Comparison], None] | None = None,
    scheduler: str | None = None,
    prepare: ProgressBar | None = None,
) -> list[Comparison]:
    """Policies in several settings of the same realisations, all runs side by side.

    What ``rescue`` gets is of the first setting.
    """
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ThzSyncError("seeds: compare needs at least one seed")
    most = len(numbers) * sum(len(names) for _, names in settings)
    with open_executor(workers, scheduler, most=most) as executor:
        parts = [
            _Part(setting, names, _tasks(executor, setting, names, numbers, iterations, prepare))
            for setting, names in settings
        ]
        places = [(part, task) for part in parts for task in part.tasks]
        tasks, watch = [task for _, task in places], _counted(progress, most)
        try:
            for position, result in stream_runs(executor, _run, tasks, watch):
                part, task = places[position]
                part.results[task.seed, task.policy] = result
        except BaseException as error:
            if rescue is not None and parts[0].whole_seeds() and interrupted(error):
                rescue(parts[0].comparison())
            raise
    return [part.comparison() for part in parts]


def _counted(progress: ProgressBar | None, total: int) -> Callable[[float], None]:
    return lambda done: None if progress is None else progress(done, total)


def known_policies(policies: Sequence[str]) -> tuple[str, ...]:
    """The policies by name, all when none is named; a name that does not exist is refused."""
    names = tuple(policies) or tuple(policy_names())
    if len(set(names)) < len(names):
        raise ThzSyncError(f"policies: {', '.join(names)} names one twice; name each once")
    for name in names:
        if name not in policy_names():
            raise ThzSyncError(f"{name}: no such policy; use {', '.join(policy_names())} or all")
    return names


def _tasks(
    executor: Executor,
    scenario: Scenario,
    policies: Sequence[str],
    seeds: Sequence[int],
    iterations: int,
    prepare: ProgressBar | None,
) -> list[_Task]:
    """The runs of a comparison, seed by seed; the first seed's are recorded in detail."""
    return [
        _Task(scenario, policy, seed, iterations, reference, seed == seeds[0])
        for seed, reference in _all_references(executor, scenario, seeds, prepare)
        for policy in policies
    ]


def _all_references(
    executor: Executor,
    scenario: Scenario,
    seeds: Sequence[int],
    prepare: ProgressBar | None,
) -> Iterator[tuple[int, References]]:
    unknown = [seed for seed in seeds if known_references(scenario, seed) is None]
    found = {seed: known_references(scenario, seed) or {} for seed in seeds}
    tasks = [(scenario, seed) for seed in unknown]
    watch = _counted(prepare, len(tasks))
    for position, result in stream_runs(executor, _references, tasks, watch):
        if isinstance(result, Failure):
            raise result.error
        found[unknown[position]] = result
        remember(scenario, unknown[position], result)
    yield from found.items()


@dataclass(frozen=True)
class _Part:
    """The runs of a setting as they come in."""

    scenario: Scenario
    policies: tuple[str, ...]
    tasks: Sequence[_Task]
    """Seed by seed."""
    results: dict[tuple[int, str], _Result | Failure] = field(default_factory=dict)

    def whole_seeds(self) -> tuple[int, ...]:
        """Seeds that every policy has finished."""
        done = {place for place, result in self.results.items() if isinstance(result, _Result)}
        missing = {task.seed for task in self.tasks if (task.seed, task.policy) not in done}
        return tuple(dict.fromkeys(t.seed for t in self.tasks if t.seed not in missing))

    def comparison(self) -> Comparison:
        ended = [(t, self.results.get((t.seed, t.policy))) for t in self.tasks]
        failed = [(task, result.error) for task, result in ended if isinstance(result, Failure)]
        seeds = self.whole_seeds()
        if not seeds and failed:
            raise failed[0][1]
        kept = [(t, r) for t, r in ended if t.seed in seeds and isinstance(r, _Result)]
        return Comparison(
            self.scenario,
            self.policies,
            seeds,
            pl.concat([result.iterations for _, result in kept]),
            pl.concat([result.events for _, result in kept]),
            {task.policy: result.detail for task, result in kept if result.detail},
            tuple(
                {"policy": task.policy, "seed": task.seed, "error": in_one_line(error)}
                for task, error in failed
            ),
            certify(({"policy": task.policy}, result.fidelity) for task, result in kept),
        )
