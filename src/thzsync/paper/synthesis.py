"""The synthesis figure: completion time of All-to-All and AllReduce methods on one THz ring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.experiments.parallel import map_runs
from thzsync.experiments.single_ring import Instance
from thzsync.experiments.statistics import interval95
from thzsync.paper.figure import Figure, Request, Row, facts
from thzsync.paper.published import published_ablation_pct, published_synthesis
from thzsync.scenario import Scenario
from thzsync.synthesis import find_method
from thzsync.synthesis.registry import PUBLISHED

RACKS: Final = (4, 6, 8, 10, 12)
QUICK_RACKS: Final = (4, 12)
KINDS: Final = ("a2a", "allreduce")
ABLATIONS: Final = ("no-channel", "equal-power")

Case = tuple[str, int, bool]
"""Collective, racks, and whether some of them are late."""


@dataclass(frozen=True)
class SynthesisFigure(Figure):
    """Completion times of all synthesis methods on one ring."""

    scenario: Scenario
    seeds: int
    rows: list[Row]
    quick: bool = False
    kind = "synthesis"

    def document(self) -> Row:
        """The figure as plain values."""
        return facts(self.kind, self.scenario, self.quick) | {
            "seeds": self.seeds,
            "rows": self.rows,
            "ablations": ablation_rows(self.rows),
        }

    def files(self) -> list[tuple[str, bytes]]:
        """The scenario."""
        return [("scenario.toml", self.scenario.to_toml().encode())]


def reproduce(request: Request) -> SynthesisFigure:
    """All published methods at all sizes."""
    rows = synthesis_rows(
        request.scenario,
        request.seeds,
        QUICK_RACKS if request.quick else RACKS,
        workers=request.workers,
        progress=request.part("synthesis"),
    )
    return SynthesisFigure(request.scenario, request.seeds, rows, request.quick)


def _measure(task: tuple[Instance, tuple[str, ...]]) -> tuple[dict[str, float], float]:
    """Completion times of all methods on one instance, and the bound [ms]."""
    instance, methods = task
    completion_ms = {method: instance.run(method).completion_ps / 1e9 for method in methods}
    return completion_ms, instance.bound_ms()


def synthesis_rows(
    scenario: Scenario,
    seeds: int,
    racks: Sequence[int] = RACKS,
    methods: Mapping[str, Sequence[str]] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Rows of the figure: mean, 95 % interval, bound, published number, deviation.

    Every method faces the same ``seeds`` instances of each setting.
    """
    chosen = _published() if methods is None else methods
    for kind, names in chosen.items():
        for name in names:
            find_method(kind, name)  # refuse unknown names before any work
    cases = [(kind, n, late) for kind in chosen for late in (False, True) for n in racks]
    # The largest instances first, so that no worker is left with one at the end.
    tasks = [
        (Instance(scenario, *case, seed), tuple(chosen[case[0]]))
        for case in sorted(cases, key=lambda case: -case[1])
        for seed in range(seeds)
    ]
    found: dict[Case, list[tuple[dict[str, float], float]]] = {case: [] for case in cases}
    results = map_runs(_measure, tasks, workers, progress)
    for (instance, _), measured in zip(tasks, results, strict=True):
        found[instance.kind, instance.racks, instance.stragglers].append(measured)
    return [
        _row(case, method, [t[method] for t, _ in instances], [bound for _, bound in instances])
        for case, instances in found.items()
        for method in chosen[case[0]]
    ]


def _published() -> dict[str, list[str]]:
    """The paper's methods and its baselines, by collective."""
    return {k: [m.name for m in PUBLISHED if m.collective == k] for k in KINDS}


def _row(case: Case, method: str, times_ms: list[float], bounds_ms: list[float]) -> Row:
    kind, racks, late = case
    mean_ms, ci95_ms = interval95(np.array(times_ms))
    paper_ms = published_synthesis(kind, method, racks, late)
    return {
        "collective": kind,
        "method": method,
        "racks": racks,
        "stragglers": late,
        "mean_ms": mean_ms,
        "ci95_ms": ci95_ms,
        "bound_ms": float(np.mean(bounds_ms)),
        "paper_ms": paper_ms,
        "deviation_pct": None if paper_ms is None else 100 * (mean_ms / paper_ms - 1),
    }


def ablation_rows(rows: Sequence[Row], racks: int = 12) -> list[Row]:
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
        least, most = published_ablation_pct(method) or (None, None)
        found.append(
            {
                "collective": collective,
                "stragglers": late,
                "method": method,
                "increase_pct": 100 * (value / proposed - 1),
                "paper_least_pct": least,
                "paper_most_pct": most,
            }
        )
    return found
