"""Several policies in the same realisations, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.coordinator import policy_names
from thzsync.display.html import notebook_view
from thzsync.display.table import Column, Interval, Table
from thzsync.errors import ThzSyncError, interrupted
from thzsync.experiments.parallel import map_runs
from thzsync.experiments.statistics import interval95
from thzsync.records.folder import FILES, Record, with_marker, write_record
from thzsync.records.run import MARKER as RUN_MARKER
from thzsync.records.run import SCENARIO, References, environment, frame_bytes, read_scenario
from thzsync.scenario import Scenario
from thzsync.simulation import Run, reference_costs, simulate

MARKER: Final = "compare.json"
METRICS = ("completion_ms", "energy_j", "reward", "makespan_ms", "thz_share")
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

    def __repr__(self) -> str:
        iterations = self.iterations["iteration"].n_unique()
        return (
            f"Comparison({', '.join(self.policies)} on {self.scenario.name!r}, "
            f"seeds={len(self.seeds)}, iterations={iterations})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: every policy's means, paired by seed."""
        facts = {"scenario": self.scenario.name, "seeds": len(self.seeds)}
        return notebook_view(self.table(), facts)

    def table(self, first: int = 0) -> Table:
        """Every policy's means from iteration ``first`` on, with 95 % intervals."""
        columns = (
            Column("policy", left=True),
            Column("completion", "ms", better="low"),
            Column("energy", "J", better="low"),
            Column("reward", better="high"),
            Column("makespan", "ms"),
            Column("THz share", show=lambda share: f"{100 * share:.0f} %"),
        )
        rows = [
            [
                row["policy"],
                *(Interval(row[m], row[f"ci95_{m}"]) for m in METRICS[:-1]),
                row["thz_share"],
            ]
            for row in self.rows(first)
        ]
        return Table("Comparison", columns, rows, "Means per iteration, ± 95 % over seeds.")

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
        rows = []
        for policy in self.policies:
            row: dict[str, Any] = {"policy": policy}
            for metric in METRICS:
                values = self.seed_means(policy, metric, first)
                row[metric], row[f"ci95_{metric}"] = interval95(values)
                paired = values - self.seed_means(reference, metric, first)
                row[f"diff_{metric}"], row[f"ci95_diff_{metric}"] = interval95(paired)
            rows.append(row)
        return rows

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
            "environment": environment(),
        }

    def save(self, folder: str | Path, document: dict[str, Any] | None = None) -> Path:
        """Write the comparison: a JSON summary, two tables, and one detailed run per policy."""
        return write_record(folder, MARKER, document or self.document(), self._files())

    def _files(self) -> Iterator[tuple[str, bytes]]:
        yield SCENARIO, self.scenario.to_toml().encode()
        for name in ("iterations", "events"):
            yield f"{name}.parquet", frame_bytes(getattr(self, name))
        for policy, run in self.details.items():
            for name, content in with_marker(RUN_MARKER, run.provenance(), run.files()):
                yield f"runs/{policy}/{name}", content

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read what ``save`` wrote."""
        source = Path(folder)
        try:
            document = json.loads((source / MARKER).read_text("utf-8"))
            policies, seeds = tuple(document["policies"]), tuple(document["seeds"])
            record = Record.at(source, MARKER, document)
            record.check_seal()
            iterations, events = (
                pl.read_parquet(record.read(f"{name}.parquet")) for name in ("iterations", "events")
            )
        except ThzSyncError:
            raise
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0]
            raise ThzSyncError(f"{source}: not a readable comparison ({reason})") from None
        details = {
            policy: Run.read(record.inner(f"runs/{policy}", RUN_MARKER))
            for policy in policies
            if f"runs/{policy}/{RUN_MARKER}" in document[FILES]
        }
        return cls(read_scenario(record), policies, seeds, iterations, events, details)


def compare(
    scenario: Scenario,
    policies: Sequence[str] = (),
    seeds: int | Sequence[int] = 5,
    iterations: int = 20,
    workers: int | None = None,
    progress: ProgressBar | None = None,
    rescue: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Run every policy in every seed; all see the same background, channel and stragglers.

    When it is interrupted, ``rescue`` gets the seeds that every policy has finished.
    """
    names = tuple(policies) or tuple(policy_names())
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ThzSyncError("seeds: compare needs at least one seed")
    if len(set(names)) < len(names):
        raise ThzSyncError(f"policies: {', '.join(names)} names one twice; name each once")
    for name in names:
        if name not in policy_names():
            raise ThzSyncError(f"{name}: no such policy; use {', '.join(policy_names())} or all")
    references = map_runs(_references, [(scenario, seed) for seed in numbers], workers=workers)
    tasks = [
        _Task(scenario, policy, seed, iterations, reference, seed == numbers[0])
        for seed, reference in zip(numbers, references, strict=True)
        for policy in names
    ]
    done: dict[int, _Result] = {}
    try:
        map_runs(_run, tasks, workers, progress, done.__setitem__)
    except BaseException as error:
        whole = [n for k, n in enumerate(numbers) if _finished(done, k, len(names))]
        if rescue is not None and whole and interrupted(error):
            rescue(_gather(scenario, names, tuple(whole), tasks, done))
        raise
    return _gather(scenario, names, numbers, tasks, done)


def _finished(done: dict[int, _Result], seed: int, policies: int) -> bool:
    """Whether every policy's run of a seed is there; tasks go seed by seed."""
    return all(seed * policies + k in done for k in range(policies))


def _gather(
    scenario: Scenario,
    names: tuple[str, ...],
    seeds: tuple[int, ...],
    tasks: Sequence[_Task],
    done: dict[int, _Result],
) -> Comparison:
    kept = [(t, done[k]) for k, t in enumerate(tasks) if t.seed in seeds]
    details = {task.policy: result.detail for task, result in kept if result.detail}
    return Comparison(
        scenario,
        names,
        seeds,
        pl.concat([result.iterations for _, result in kept]),
        pl.concat([result.events for _, result in kept]),
        {name: details[name] for name in names if name in details},
    )
