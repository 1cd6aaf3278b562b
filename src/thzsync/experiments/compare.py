"""Several policies in the same realisations, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from thzsync.errors import ThzSyncError, in_one_line, interrupted
from thzsync.experiments.comparison import Comparison
from thzsync.experiments.policies import Own, Policies, given_policies
from thzsync.experiments.runs import Tally, Task, execute
from thzsync.experiments.store import Store
from thzsync.records.certificate import certify, warn_beyond
from thzsync.scenario import Scenario, ScenarioLike

__all__ = ["Comparison", "compare"]

ProgressBar = Callable[[float, int], None]
"""Is told how many of all runs are done, those under way by their shares."""


def compare(
    scenario: ScenarioLike,
    policies: Policies = (),
    seeds: int | Sequence[int] = 5,
    iterations: int = 20,
    workers: int | None = None,
    progress: ProgressBar | None = None,
    rescue: Callable[[Comparison], None] | None = None,
    scheduler: str | None = None,
    prepare: ProgressBar | None = None,
) -> Comparison:
    """Run every policy in every seed; all see the same background, channel and stragglers.

    ``policies`` are names, policy objects, of which every run gets a copy, or classes and functions
    that make one for a run; a mapping gives them other names. All registered ones by default.
    ``scheduler`` is the address of a Dask cluster to use instead of ``workers`` processes.
    ``prepare`` is told of the references, ``progress`` of the runs that follow them. When it
    is interrupted, ``rescue`` gets the seeds that every policy has finished. A seed in which a run
    fails is left out of all policies, and the failure is recorded. Warns if runs in flow fidelity
    are beyond their tolerance.
    """
    settings = [(Scenario.of(scenario), given_policies(policies))]
    how = (workers, progress, rescue, scheduler, prepare)
    found = compare_settings(settings, seeds, iterations, *how)[0]
    warn_beyond(found.fidelity)
    return found


def compare_settings(
    settings: Sequence[tuple[Scenario, tuple[str, ...] | Mapping[str, Own | None]]],
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
    parts = [tasks_of(scenario, names, numbers, iterations) for scenario, names in settings]
    store = Store()

    def watch(tally: Tally) -> None:
        if tally.to_prepare and prepare is not None:
            prepare(tally.prepared, tally.to_prepare)
        elif progress is not None and tally.done:
            progress(tally.done, tally.total)

    try:
        execute([task for part in parts for task in part], store, workers, scheduler, watch)
    except BaseException as error:
        if rescue is not None and whole_seeds(parts[0], store) and interrupted(error):
            rescue(comparison_of(parts[0], store))
        raise
    return [comparison_of(part, store) for part in parts]


def tasks_of(
    scenario: Scenario,
    policies: Sequence[str] | Mapping[str, Own | None],
    seeds: Sequence[int],
    iterations: int,
) -> list[Task]:
    """The runs of a comparison, seed by seed; the first seed's are recorded in detail."""
    given = policies if isinstance(policies, Mapping) else dict.fromkeys(policies)
    return [
        Task(scenario, name, seed, iterations, events=True, detailed=seed == seeds[0], own=own)
        for seed in seeds
        for name, own in given.items()
    ]


def whole_seeds(tasks: Sequence[Task], store: Store) -> tuple[int, ...]:
    """Seeds that every policy has finished."""
    missing = {task.seed for task in tasks if store.finished(task.key) is None}
    return tuple(dict.fromkeys(task.seed for task in tasks if task.seed not in missing))


def comparison_of(tasks: Sequence[Task], store: Store) -> Comparison:
    """What a store holds of a comparison: the seeds that every policy has finished."""
    failed = [(task, store.failures[task.key]) for task in tasks if task.key in store.failures]
    seeds = whole_seeds(tasks, store)
    if not seeds and failed:
        raise failed[0][1].error
    kept = [
        (task, found)
        for task in tasks
        if task.seed in seeds and (found := store.finished(task.key)) is not None
    ]
    return Comparison(
        tasks[0].scenario,
        tuple(dict.fromkeys(task.policy for task in tasks)),
        seeds,
        pl.concat([_placed(task, found.iterations) for task, found in kept]),
        pl.concat([_placed(task, found.events) for task, found in kept]),
        {task.policy: found.detail for task, found in kept if found.detail},
        tuple(
            {"policy": task.policy, "seed": task.seed, "error": in_one_line(failure.error)}
            for task, failure in failed
        ),
        certify(({"policy": task.policy}, found.fidelity) for task, found in kept),
    )


def _placed(task: Task, table: pl.DataFrame | None) -> pl.DataFrame:
    assert table is not None
    key = {"policy": task.policy, "seed": task.seed}
    return table.select(*(pl.lit(value).alias(name) for name, value in key.items()), pl.all())
