"""The synthesis figure: completion time of All-to-All and AllReduce methods on one THz ring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.experiments.parallel import map_runs
from thzsync.experiments.single_ring import Instance
from thzsync.experiments.statistics import interval95
from thzsync.paper.published import published_ablation_pct, published_synthesis
from thzsync.scenario import Scenario
from thzsync.synthesis import find_method
from thzsync.synthesis.registry import PUBLISHED

RACKS: Final = (4, 6, 8, 10, 12)
SEEDS: Final = 30
KINDS: Final = ("a2a", "allreduce")
ABLATIONS: Final = ("no-channel", "equal-power")


@dataclass(frozen=True)
class _Task:
    instance: Instance
    methods: tuple[str, ...]
    bounds: bool


@dataclass(frozen=True)
class Measured:
    """One instance under all methods: completion times and the bound [ms]."""

    completion_ms: dict[str, float]
    bound_ms: float


def measure(task: _Task) -> Measured:
    """Run every method on one instance."""
    completion_ms = {m: task.instance.run(m).completion_ps / 1e9 for m in task.methods}
    return Measured(completion_ms, task.instance.bound_ms() if task.bounds else float("nan"))


def reproduce_synthesis(
    seeds: int = SEEDS,
    racks: Sequence[int] = RACKS,
    methods: Mapping[str, Sequence[str]] | None = None,
    workers: int | None = None,
    scenario: Scenario | None = None,
    bounds: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Rows of the figure: mean, 95 % interval, bound, published number, deviation.

    Every method faces the same ``seeds`` instances of each setting.
    """
    setting = scenario or Scenario.preset("single-ring")
    chosen = {k: _published(k) if methods is None else tuple(methods.get(k, ())) for k in KINDS}
    for kind, names in chosen.items():
        for name in names:
            find_method(kind, name)  # refuse unknown names before any work
    cases = [
        (kind, n, late) for kind in KINDS if chosen[kind] for late in (False, True) for n in racks
    ]
    # The largest instances first, so that no worker is left with one at the end.
    tasks = [
        _Task(Instance(setting, kind, n, late, seed), chosen[kind], bounds)
        for kind, n, late in sorted(cases, key=lambda case: -case[1])
        for seed in range(seeds)
    ]
    found: dict[tuple[str, int, bool], list[Measured]] = {case: [] for case in cases}
    for task, outcome in zip(tasks, map_runs(measure, tasks, workers, progress), strict=True):
        instance = task.instance
        found[instance.kind, instance.racks, instance.stragglers].append(outcome)
    return [
        _row(case, method, outcomes)
        for case, outcomes in found.items()
        for method in chosen[case[0]]
    ]


def _published(kind: str) -> tuple[str, ...]:
    """The paper's method and its baselines."""
    return tuple(method.name for method in PUBLISHED if method.collective == kind)


def _row(case: tuple[str, int, bool], method: str, outcomes: list[Measured]) -> dict[str, Any]:
    kind, racks, late = case
    times_ms: FloatArray = np.array([outcome.completion_ms[method] for outcome in outcomes])
    mean_ms, ci95_ms = interval95(times_ms)
    paper_ms = published_synthesis(kind, method, racks, late)
    return {
        "collective": kind,
        "method": method,
        "racks": racks,
        "stragglers": late,
        "mean_ms": mean_ms,
        "ci95_ms": ci95_ms,
        "bound_ms": float(np.mean([outcome.bound_ms for outcome in outcomes])),
        "paper_ms": paper_ms,
        "deviation_pct": None if paper_ms is None else 100 * (mean_ms / paper_ms - 1),
    }


def ablation_rows(rows: Sequence[Mapping[str, Any]], racks: int = 12) -> list[dict[str, Any]]:
    """By how much each ablation is slower than Proposed [%], beside the published range."""
    mean_ms = {
        (row["collective"], row["stragglers"], row["method"]): row["mean_ms"]
        for row in rows
        if row["racks"] == racks
    }
    found = []
    for (collective, late, method), value in mean_ms.items():
        proposed = mean_ms.get((collective, late, "proposed"))
        if method not in ABLATIONS or proposed is None:
            continue
        paper = published_ablation_pct(method)
        found.append(
            {
                "collective": collective,
                "stragglers": late,
                "method": method,
                "increase_pct": 100 * (value / proposed - 1),
                "paper_least_pct": paper[0] if paper else None,
                "paper_most_pct": paper[1] if paper else None,
            }
        )
    return found
