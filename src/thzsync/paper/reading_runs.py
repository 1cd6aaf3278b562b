"""What interpretations lead to: runs on the trace and collectives on one ring, each measured once.

A measurement is a function of plain values, and is kept under their digest as soon as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand
from thzsync.experiments.parallel import map_runs
from thzsync.experiments.references import digest
from thzsync.experiments.single_ring import Instance
from thzsync.files import write_document
from thzsync.paper.published import COLUMNS
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.synthesis import Method, Setting, find_method
from thzsync.synthesis.exchanges import Cyclic, DemandSorted
from thzsync.synthesis.method import FlowMethod
from thzsync.synthesis.trees import Trees
from thzsync.transfers import TransferGraph

FIRST_SEED: Final = 100
"""Seeds from here on are used by no figure."""
LAST: Final = 5
"""Iterations that the figure of weights averages."""
UNPRICED: Final = dict.fromkeys(("p2p", "a2a", "allreduce"), (1.0, 1.0))
"""References for policies whose reward nobody asks for."""


@dataclass(frozen=True)
class InRounds:
    """A method without sustained links: every pair sends one chunk in each round."""

    inner: Cyclic | DemandSorted

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """The same stages, in rounds."""
        graph = self.inner.plan(demand, racks, chunk_bytes, setting)
        return replace(graph, bundled=np.zeros_like(graph.bundled))


VARIANTS: Final[dict[tuple[str, str], Method]] = {
    ("a2a demand-sorted", "rounds"): FlowMethod(
        "a2a", "demand-sorted-rounds", InRounds(DemandSorted()), "assignment", "a round per chunk"
    ),
    ("a2a cyclic", "rounds"): FlowMethod(
        "a2a", "cyclic-rounds", InRounds(Cyclic()), "assignment", "a round per chunk"
    ),
    ("a2a cyclic", "blind rounds"): FlowMethod(
        "a2a", "cyclic-blind", InRounds(Cyclic()), "assignment-blind", "a round per chunk, blind"
    ),
    ("allreduce single-tree", "told"): FlowMethod(
        "allreduce", "single-tree-told", Trees(single=True), "assignment", "delays near the root"
    ),
    ("allreduce no-channel", "blind trees"): FlowMethod(
        "allreduce",
        "no-channel-trees",
        Trees(channel_aware=False),
        "assignment-blind",
        "trees blind to the channel, too",
    ),
}
"""Methods on the single ring, read otherwise."""


@dataclass(frozen=True)
class TraceRun:
    """A policy on the training trace."""

    policy: str
    base: str
    """The scenario that the keys change, as JSON."""
    keys: tuple[tuple[str, Any], ...]
    seed: int
    iterations: int
    first: int
    learns: bool

    def measure(self) -> dict[str, float]:
        """Means from ``first`` on, and over the last iterations."""
        base = Scenario.model_validate_json(self.base)
        scenario = base.with_(dict(self.keys)) if self.keys else base
        references = None if self.learns else UNPRICED
        work = (scenario, self.policy, self.iterations, self.seed, references)
        run = simulate(*work, detailed=False)
        windows = {"": run.iterations[self.first :], "last ": run.iterations[-LAST:]}
        return {
            when + metric: float(frame[column].to_numpy().mean())
            for when, frame in windows.items()
            for metric, column in COLUMNS.items()
        }


@dataclass(frozen=True)
class RingRun:
    """A method on the single ring, in many seeds."""

    series: str
    variant: str
    racks: int
    late: bool
    keys: tuple[tuple[str, Any], ...]
    seeds: int

    def measure(self) -> dict[str, float]:
        """Mean time from the release, and from the last rack's data on [ms]."""
        kind, name = self.series.split(" ", 1)
        method = VARIANTS.get((self.series, self.variant)) or find_method(kind, name)
        base = Scenario.preset("single-ring")
        scenario = base.with_(dict(self.keys)) if self.keys else base
        times, waits = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + self.seeds):
            instance = Instance(scenario, kind, self.racks, self.late, seed)
            times.append(instance.carry_out(method).completion_ps / 1e9)
            waits.append(1e3 * float(instance.late_s.max()))
        total = float(np.mean(times))
        return {"completion": total, "since data": total - float(np.mean(waits))}


Task = TraceRun | RingRun


def measure(task: Task) -> dict[str, float]:
    """Do it; importable by workers."""
    return task.measure()


Found = dict[Task, dict[str, float]]
"""Measurements by task."""


def complete(
    found: Found,
    tasks: Iterable[Task],
    folder: Path | None = None,
    workers: int | None = None,
    progress: Callable[[float, int], None] = lambda done, total: None,
) -> None:
    """Measure what is neither found nor in the folder; every measurement is kept at once."""
    asked = list(dict.fromkeys(tasks))
    ring = Scenario.preset("single-ring").digest  # another preset, another measurement
    files = {
        task: folder / "measured" / f"{digest(type(task).__name__, asdict(task), ring)}.json"
        for task in asked
        if folder is not None
    }
    for task, file in files.items():
        if task not in found:
            # What is not there, or damaged, is measured anew.
            with suppress(OSError, ValueError, KeyError, TypeError):
                found[task] = dict(json.loads(file.read_text("utf-8"))["measured"])
    missing = [task for task in asked if task not in found]
    kept = len(asked) - len(missing)
    progress(kept, len(asked))

    def keep(task: Task, result: dict[str, float]) -> None:
        found[task] = result
        if task in files:
            write_document(files[task], {"task": asdict(task), "measured": result})

    if missing:
        map_runs(measure, missing, workers, lambda done, _: progress(kept + done, len(asked)), keep)
