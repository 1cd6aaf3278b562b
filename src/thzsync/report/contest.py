"""Who is fastest in a comparison, and beside whom: rows paired over seeds."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.display.metrics import COMPLETION, COUNTED, MAKESPAN, Metric
from thzsync.experiments.statistics import paired_pct
from thzsync.names import BEST_OF
from thzsync.report.source import Results, Row

FIBRE_ONLY: Final = (BEST_OF["all-wired"], "all-wired")
"""Schedules on fibre alone; the first that is present is the reference of the headline."""


class Contest:
    """The fastest policy beside the best schedule on fibre alone, paired over seeds."""

    def __init__(self, results: Results) -> None:
        assert results.fabric is not None
        self.fabric, self.first, self.rows = results.fabric, results.first, results.rows
        known = all(row.get(MAKESPAN.key) for row in self.rows)
        self.time = MAKESPAN if known else COMPLETION  # old comparisons have no iteration time
        self.energy = counted_energy(results)
        ranked = sorted(self.rows, key=lambda row: float(row[self.time.key]))
        fibre = [row for name in FIBRE_ONLY for row in ranked if row["policy"] == name]
        overlays = [row for row in ranked if row["policy"] not in FIBRE_ONLY]
        self.best = (overlays or fibre[1:])[0]
        self.against = (fibre or overlays[1:])[0]

    def rival(self, row: Row) -> Row:
        """The fastest policy; for itself, the schedule that it is compared with."""
        return self.against if row is self.best else self.best

    def paired_pct(self, row: Row, against: Row, metric: Metric) -> tuple[float, float]:
        """Paired difference in per cent of ``against``; below 0 is less."""
        return paired_pct(self.seed_means(row, metric), self.seed_means(against, metric))

    def seed_means(self, row: Row, metric: Metric) -> FloatArray:
        """A metric of a policy, one value per seed."""
        return self.fabric.seed_means(row["policy"], metric.key, self.first)


def counted_energy(results: Results) -> Metric:
    """The energy that the rewards count."""
    assert results.fabric is not None
    return COUNTED[results.fabric.scenario.reward.energy]


def by_reward(rows: list[Row]) -> list[Row]:
    """Policies from the highest reward down; of equals the faster one first."""
    return sorted(rows, key=lambda row: (-row["reward"], row["completion_ms"]))


def reference_row(results: Results) -> Row | None:
    """Completion time and energy per iteration of All-Wired, the reference of a run's rewards."""
    comparison, row = results.fabric, results.rows[0]
    if comparison is None or row["policy"] == "all-wired" or len(comparison.seeds) > 1:
        return None
    run = comparison.details.get(row["policy"])
    kinds = comparison.events["kind"].to_list()
    if run is None or not kinds or not set(kinds) <= run.references.keys():
        return None
    time_s, energy_j = np.array([run.references[kind] for kind in kinds]).sum(axis=0)
    count = comparison.iterations.height
    return {
        "policy": "all-wired",
        "completion_ms": 1e3 * time_s / count,
        counted_energy(results).key: energy_j / count,
    }
