"""Runs of policies in realisations: what is missing is done, what is finished is kept.

A comparison is a sweep without an axis, so both go through here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thzsync import plugins
from thzsync.coordinator import Policy, make_policy
from thzsync.experiments.parallel import Failure, stream_here, stream_runs
from thzsync.experiments.policies import Own
from thzsync.experiments.references import digest, realisation_key, reference_key
from thzsync.feasibility import Asked, effort_of
from thzsync.records import Fidelity, References
from thzsync.records.certificate import judged_together
from thzsync.scenario import Scenario
from thzsync.simulation import Run, reference_costs, simulate
from thzsync.simulation.references import REFERENCE_ITERATIONS
from thzsync.streams import Streams
from thzsync.workers import Executor, open_executor
from thzsync.workers.call import heard, tell

if TYPE_CHECKING:
    import polars as pl

    from thzsync.experiments.store import Store


@dataclass(frozen=True)
class Task:
    """One simulation: a policy in a scenario and a seed."""

    scenario: Scenario
    policy: str
    seed: int
    iterations: int
    point: int = 0
    """Number of the point, or of the setting, that it belongs to."""
    name: str = ""
    """What its policy is called there."""
    events: bool = False
    """Whether the table of events is wanted, too."""
    detailed: bool = False
    """Whether the last iteration is recorded in detail."""
    own: Own | None = None
    """The policy itself, where its name alone does not tell."""

    def new_policy(self) -> Policy:
        """Its policy as it is before the run."""
        source = self.policy if self.own is None else self.own.source
        return make_policy(source, self.scenario, Streams(self.seed))

    @cached_property
    def realisation(self) -> str:
        """Names the scenario in its seed: what the runs of all policies share."""
        return realisation_key(self.scenario, self.seed)

    @cached_property
    def references(self) -> str:
        """Names its references, which realisations share that differ in learning alone."""
        return reference_key(self.scenario, self.seed)

    @cached_property
    def key(self) -> str:
        """Names the result: scenario, policy, seed, iterations and version."""
        identity = () if self.own is None else (self.own.identity,)
        return digest(self.realisation, self.policy, self.iterations, *identity)


@dataclass(frozen=True)
class Result:
    """What is kept of a run."""

    iterations: pl.DataFrame
    fidelity: Fidelity | None = None
    """What was replayed of a run in flow fidelity."""
    events: pl.DataFrame | None = None
    detail: Run | None = None


@dataclass(frozen=True)
class Tally:
    """How far a comparison or a sweep is."""

    done: float
    """Runs that are done; those under way count by their shares."""
    total: int
    kept: int = 0
    """Of those done: finished before this start."""
    failed: int = 0
    prepared: float = 0
    """References found, of those that were unknown."""
    to_prepare: int = 0
    part: str = ""
    """What is done at the moment, where there are several things to do."""


Watch = Callable[[Tally], None]


def execute(
    tasks: Sequence[Task],
    store: Store,
    workers: int | None = None,
    scheduler: str | None = None,
    watch: Watch | None = None,
) -> None:
    """Do every run that the store does not hold; one that fails stops no other."""
    wanted = list({task.key: task for task in tasks}.values())
    missing = [task for task in wanted if store.finished(task.key) is None]
    kept = len(wanted) - len(missing)
    tally = Tally(kept, len(wanted), kept)

    def show(**news: Any) -> None:
        if watch is not None:
            watch(replace(tally, failed=len(store.failures), **news))

    show()
    with open_executor(workers, scheduler if missing else None, most=len(missing)) as executor:
        _find_references(missing, store, executor, show)
        able = [task for task in missing if store.references(task.references) is not None]
        done = len(wanted) - len(able)
        for stream, part in _divided(able, executor):
            items = [(_sent(task), store.references(task.references)) for task in part]
            runs = stream(run_task, items, lambda share, before=done: show(done=before + share))
            for position, result in runs:
                store.keep(part[position].key, result)
            done += len(part)


def _divided(tasks: Sequence[Task], executor: Executor) -> Iterator[tuple[Any, Sequence[Task]]]:
    """Runs for the executor, and then those of policies that cannot be sent to workers."""

    def stays(task: Task) -> bool:
        return task.own is not None and not task.own.sendable

    yield partial(stream_runs, executor), [task for task in tasks if not stays(task)]
    here = [task for task in tasks if stays(task)]
    if here and not executor.is_here:
        names = ", ".join(dict.fromkeys(task.policy for task in here))
        warnings.warn(
            f"{names}: workers get neither what the running program defines nor what cannot be "
            "pickled, so these runs take place in this process; name a class of a module",
            stacklevel=2,
        )
    yield stream_here, here


def _find_references(
    tasks: Iterable[Task], store: Store, executor: Executor, show: Callable[..., None]
) -> None:
    """The runs of one realisation share their references, so these come first."""
    needed = {task.references: task for task in tasks}
    unknown = [task for key, task in needed.items() if store.references(key) is None]

    def watch(prepared: float) -> None:
        show(prepared=prepared, to_prepare=len(unknown))

    asked = [(portable(task.scenario), task.seed) for task in unknown]
    for position, found in stream_runs(executor, find_references, asked, watch):
        key = unknown[position].references
        if isinstance(found, Failure):
            for task in (task for task in tasks if task.references == key):
                store.keep(task.key, found)
        else:
            store.keep_references(key, found)


def find_references(realisation: tuple[Scenario, int]) -> References:
    """The references of a scenario in a seed."""
    return reference_costs(*realisation, counting(realisation[0], REFERENCE_ITERATIONS))


def run_task(item: tuple[Task, References | None]) -> Result:
    """Simulate a task with the references of its realisation."""
    task, references = item
    work = (task.scenario, task.new_policy(), task.iterations, task.seed, references)
    with judged_together():
        stop = counting(task.scenario, task.iterations)
        run = simulate(*work, detailed=task.detailed, stop=stop)
    events = run.events.drop("racks", "delay_ps", "power", "after") if task.events else None
    detail = replace(run.last_iteration(), policy=task.policy) if task.detailed else None
    return Result(run.iterations, run.fidelity, events, detail)


def counting(scenario: Scenario, iterations: int) -> Callable[[], bool]:
    """Is called before every decision of a run, tells which share is done, and never stops it."""
    if not heard():
        return lambda: False
    whole = effort_of(Asked(scenario, iterations, learns=False, kept=False)).decisions
    decided = 0

    def step() -> bool:
        nonlocal decided
        decided += 1
        tell(min(1.0, decided / whole))
        return False

    return step


def _sent(task: Task) -> Task:
    """As a worker gets it; a record in detail names files as the user did."""
    return task if task.events else replace(task, scenario=portable(task.scenario))


def portable(scenario: Scenario) -> Scenario:
    """A scenario for a worker that may stand in another folder."""

    def absolute(name: str | None) -> str | None:
        return None if name is None else str(Path(name).absolute())

    jobs = tuple(job.model_copy(update={"trace": absolute(job.trace)}) for job in scenario.jobs)
    gains = {"gains_file": absolute(scenario.channel.gains_file)}
    channel = scenario.channel.model_copy(update=gains)
    named = tuple(plugins.located(entry) for entry in scenario.plugins)
    return scenario.model_copy(update={"jobs": jobs, "channel": channel, "plugins": named})
