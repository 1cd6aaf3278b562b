"""Several policies in the same realisations, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from thzsync.coordinator import policy_names
from thzsync.errors import ThzSyncError, interrupted
from thzsync.experiments.parallel import Failure, stream_runs
from thzsync.experiments.statistics import paired_row
from thzsync.files import write_atomically, write_document
from thzsync.folders import RUN
from thzsync.scenario import Scenario
from thzsync.simulation import Run, reference_costs, simulate
from thzsync.simulation.records import References, environment, frame_bytes, read_scenario
from thzsync.workers import Executor, open_executor
from thzsync.workers.call import in_one_line

METRIC_TITLES: Final = {
    "completion_ms": "Completion time [ms]",
    "energy_j": "Energy [J]",
    "reward": "Reward",
    "makespan_ms": "Iteration time [ms]",
    "thz_share": "Share of bytes on THz",
}
METRICS: Final = tuple(METRIC_TITLES)
if TYPE_CHECKING:
    from matplotlib.figure import Figure

ProgressBar = Callable[[int, int], None]


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


def _references(task: tuple[Scenario, int]) -> References:
    return reference_costs(*task)


def _run(task: _Task) -> _Result:
    run = simulate(task.scenario, task.policy, task.iterations, task.seed, task.references)
    key = {"policy": task.policy, "seed": task.seed}
    columns = [pl.lit(value).alias(name) for name, value in key.items()]
    detail = run.last_iteration() if task.detailed else None
    events = run.events.drop("racks", "delay_ps", "power", "after")
    return _Result(
        run.iterations.select(*columns, pl.all()), events.select(*columns, pl.all()), detail
    )


@dataclass(frozen=True)
class Comparison:
    """What every policy did in every seed."""

    scenario: Scenario
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    iterations: pl.DataFrame
    """The runs' iteration tables with policy and seed."""
    events: pl.DataFrame
    """The runs' event tables with policy and seed."""
    details: dict[str, Run]
    """Full record of the last iteration of every policy's first seed."""
    failures: tuple[dict[str, Any], ...] = ()
    """Policy, seed and error of every run that failed; its seed is left out everywhere."""

    def seed_means(self, policy: str, metric: str, first: int = 0) -> np.ndarray[Any, Any]:
        """Mean of a metric over the iterations from ``first`` on, one value per seed."""
        chosen = self.iterations.filter(
            (pl.col("policy") == policy) & (pl.col("iteration") >= first)
        )
        return chosen.group_by("seed").agg(pl.col(metric).mean()).sort("seed")[metric].to_numpy()

    def rows(self, first: int = 0, against: str | None = None) -> list[dict[str, Any]]:
        """One row per policy: means with 95 % intervals, and paired differences to ``against``.

        A difference is the policy's value minus that of ``against`` in the same realisation.
        """
        reference = against or self.policies[0]

        def row(policy: str) -> dict[str, Any]:
            def values(metric: str) -> np.ndarray[Any, Any]:
                return self.seed_means(policy, metric, first)

            def pairs(metric: str) -> np.ndarray[Any, Any]:
                paired: np.ndarray[Any, Any] = values(metric) - self.seed_means(
                    reference, metric, first
                )
                return paired

            return {"policy": policy, **paired_row(METRICS, values, pairs)}

        return [row(policy) for policy in self.policies]

    def plot(self, metric: str = "completion_ms") -> Figure:
        """A metric by iteration, with the 95 % band of every policy over the seeds."""
        from thzsync.experiments.picture import draw_iterations

        return draw_iterations(self, metric)

    def document(self, first: int = 0) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "kind": "compare",
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "policies": list(self.policies),
            "seeds": list(self.seeds),
            "against": self.policies[0],
            "first_iteration": first,
            "rows": self.rows(first),
            "failures": list(self.failures),
            "environment": environment(),
        }

    def save(self, folder: str | Path, document: dict[str, Any] | None = None) -> Path:
        """Write the comparison: a JSON summary, two tables, and one detailed run per policy."""
        target = Path(folder)
        for stale in {path.name for path in target.glob("runs/*")} - self.details.keys():
            RUN.remove_from(target / "runs" / stale)
        for name in ("iterations", "events"):
            write_atomically(target / f"{name}.parquet", frame_bytes(getattr(self, name)))
        for policy, run in self.details.items():
            run.save(target / "runs" / policy)
        write_atomically(target / "scenario.toml", self.scenario.to_toml().encode())
        write_document(target / "compare.json", document or self.document())
        return target

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read what ``save`` wrote."""
        source = Path(folder)
        try:
            document = json.loads((source / "compare.json").read_text("utf-8"))
            iterations = pl.read_parquet(source / "iterations.parquet")
            events = pl.read_parquet(source / "events.parquet")
            policies, seeds = tuple(document["policies"]), tuple(document["seeds"])
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0]
            raise ThzSyncError(f"{source}: not a readable comparison ({reason})") from None
        details = {
            policy: Run.load(source / "runs" / policy)
            for policy in policies
            if (source / "runs" / policy).exists()
        }
        return cls(
            read_scenario(source),
            policies,
            seeds,
            iterations,
            events,
            details,
            tuple(document.get("failures", ())),
        )


def compare(
    scenario: Scenario,
    policies: Sequence[str] = (),
    seeds: int | Sequence[int] = 5,
    iterations: int = 20,
    workers: int | None = None,
    progress: ProgressBar | None = None,
    rescue: Callable[[Comparison], None] | None = None,
    scheduler: str | None = None,
) -> Comparison:
    """Run every policy in every seed; all see the same background, channel and stragglers.

    ``scheduler`` is the address of a Dask cluster to use instead of ``workers`` processes. When it
    is interrupted, ``rescue`` gets the seeds that every policy has finished. A seed in which a run
    fails is left out of all policies, and the failure is recorded.
    """
    names = known_policies(policies)
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ThzSyncError("seeds: compare needs at least one seed")
    with open_executor(workers, scheduler, most=len(numbers) * len(names)) as executor:
        tasks = [
            _Task(scenario, policy, seed, iterations, reference, seed == numbers[0])
            for seed, reference in _all_references(executor, scenario, numbers)
            for policy in names
        ]
        book = _Book(scenario, names, tasks)
        try:
            for position, result in stream_runs(executor, _run, tasks):
                book.enter(position, result)
                if progress is not None:
                    progress(book.entries, len(tasks))
        except BaseException as error:
            if rescue is not None and book.whole_seeds() and interrupted(error):
                rescue(book.comparison())
            raise
    return book.comparison()


def known_policies(policies: Sequence[str]) -> tuple[str, ...]:
    """The policies by name, all when none is named; a name that does not exist is refused."""
    names = tuple(policies) or tuple(policy_names())
    if len(set(names)) < len(names):
        raise ThzSyncError(f"policies: {', '.join(names)} names one twice; name each once")
    for name in names:
        if name not in policy_names():
            raise ThzSyncError(f"{name}: no such policy; use {', '.join(policy_names())} or all")
    return names


def _all_references(
    executor: Executor, scenario: Scenario, seeds: Sequence[int]
) -> Iterator[tuple[int, References]]:
    found: dict[int, References] = {}
    for position, result in stream_runs(executor, _references, [(scenario, s) for s in seeds]):
        if isinstance(result, Failure):
            raise result.error
        found[position] = result
    yield from ((seed, found[position]) for position, seed in enumerate(seeds))


@dataclass(frozen=True)
class _Book:
    """The runs of a comparison as they come in."""

    scenario: Scenario
    policies: tuple[str, ...]
    tasks: Sequence[_Task]
    """Seed by seed."""
    done: dict[int, _Result] = field(default_factory=dict)
    failed: dict[int, BaseException] = field(default_factory=dict)

    @property
    def entries(self) -> int:
        return len(self.done) + len(self.failed)

    def enter(self, position: int, result: _Result | Failure) -> None:
        if isinstance(result, Failure):
            self.failed[position] = result.error
        else:
            self.done[position] = result

    def whole_seeds(self) -> tuple[int, ...]:
        """Seeds that every policy has finished."""
        missing = {t.seed for k, t in enumerate(self.tasks) if k not in self.done}
        return tuple(dict.fromkeys(t.seed for t in self.tasks if t.seed not in missing))

    def comparison(self) -> Comparison:
        seeds = self.whole_seeds()
        if not seeds and self.failed:
            raise self.failed[min(self.failed)]
        kept = [(t, self.done[k]) for k, t in enumerate(self.tasks) if t.seed in seeds]
        details = {task.policy: result.detail for task, result in kept if result.detail}
        return Comparison(
            self.scenario,
            self.policies,
            seeds,
            pl.concat([result.iterations for _, result in kept]),
            pl.concat([result.events for _, result in kept]),
            {name: details[name] for name in self.policies if name in details},
            tuple(self._failures()),
        )

    def _failures(self) -> Iterator[dict[str, Any]]:
        for position, error in sorted(self.failed.items()):
            task = self.tasks[position]
            yield {"policy": task.policy, "seed": task.seed, "error": in_one_line(error)}
