"""The paper's trade-off: how the reward's weights move the operating point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from thzsync.experiments.compare import Comparison, compare_settings
from thzsync.experiments.statistics import interval95
from thzsync.files import write_atomically, write_document
from thzsync.paper.published import published_weights
from thzsync.records.run import environment, frame_bytes
from thzsync.scenario import Reward, Scenario

WEIGHTS = ((0.7, 0.3), (0.5, 0.5), (0.3, 0.7))
LAST = 5
"""How many of the last iterations are averaged; of fewer than ten, the second half."""


@dataclass(frozen=True)
class WeightsFigure:
    """THz-SynC at each pair of weights."""

    comparisons: dict[tuple[float, float], Comparison]
    iterations: int
    quick: bool = False
    """Whether it is a first look with fewer seeds and iterations than the paper's."""

    def rows(self) -> list[dict[str, Any]]:
        """One row per pair of weights."""
        first = max(self.iterations - LAST, self.iterations // 2)
        rows = []
        for (time, energy), comparison in self.comparisons.items():
            row: dict[str, Any] = {"time_weight": time, "energy_weight": energy}
            for column in ("completion_ms", "energy_j", "makespan_ms", "exposed_ms"):
                values = comparison.seed_means("thz-sync", column, first)
                row[column], row[f"ci95_{column}"] = interval95(values)
            for column, metric in (("completion_ms", "completion"), ("energy_j", "energy")):
                row[f"paper_{column}"] = published_weights(time, metric)
            rows.append(row)
        return rows

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        comparison = next(iter(self.comparisons.values()))
        return {
            "kind": "weights",
            "quick": self.quick,
            "scenario": comparison.scenario.name,
            "scenario_sha256": comparison.scenario.digest,
            "seeds": list(comparison.seeds),
            "rows": self.rows(),
            "environment": environment(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the summary and the iteration tables it was made from."""
        target = Path(folder)
        tables = [
            comparison.iterations.with_columns(pl.lit(time).alias("time_weight"))
            for (time, _), comparison in self.comparisons.items()
        ]
        scenario = next(iter(self.comparisons.values())).scenario
        write_atomically(target / "scenario.toml", scenario.to_toml().encode())
        write_atomically(target / "iterations.parquet", frame_bytes(pl.concat(tables)))
        write_document(target / "weights.json", self.document())
        return target


def reproduce_weights(
    seeds: int = 5,
    iterations: int = 20,
    workers: int | None = None,
    scenario: Scenario | None = None,
    progress: Callable[[str, float, int], None] | None = None,
    quick: bool = False,
    known: Comparison | None = None,
) -> WeightsFigure:
    """Train THz-SynC under three pairs of weights in the same realisations.

    What ``known`` has of THz-SynC under one of them, in as many seeds and iterations, is used.
    """
    setting = scenario or Scenario.paper()
    weighted = {
        (time, energy): setting.model_copy(
            update={"reward": Reward(time_weight=time, energy_weight=energy)}
        )
        for time, energy in WEIGHTS
    }
    found = {
        pair: known.of("thz-sync")
        for pair, scenario in weighted.items()
        if known is not None and _covers(known, scenario, seeds, iterations)
    }
    missing = [pair for pair in WEIGHTS if pair not in found]

    def report(done: float, total: int) -> None:
        if progress is not None:
            progress("runs", done, total)

    settings = [(weighted[pair], ("thz-sync",)) for pair in missing]
    compared = compare_settings(settings, seeds, iterations, workers, report)
    found |= dict(zip(missing, compared, strict=True))
    return WeightsFigure({pair: found[pair] for pair in WEIGHTS}, iterations, quick)


def _covers(known: Comparison, scenario: Scenario, seeds: int, iterations: int) -> bool:
    """Whether a comparison has THz-SynC's runs of a scenario."""
    return (
        known.scenario.digest == scenario.digest
        and known.seeds == tuple(range(seeds))
        and "thz-sync" in known.policies
        and known.iterations["iteration"].n_unique() == iterations
    )
