"""The plane of delay and energy: what was published, the same mechanisms well learnt, and ours.

All runs of one seed meet the same background, channel and stragglers, whatever their mechanisms
and weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.experiments.compare import Comparison, compare
from thzsync.experiments.fabric import CONVERGED
from thzsync.experiments.published import published_value, published_weights
from thzsync.experiments.statistics import interval95
from thzsync.files import write_atomically, write_document
from thzsync.names import PUBLISHED_POLICIES
from thzsync.records.run import environment, frame_bytes
from thzsync.scenario import Reward, Scenario

Row = dict[str, Any]

WEIGHTS: Final = ((0.9, 0.1), (0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.1, 0.9))
CONFIGS: Final = {"paper": "the paper's mechanisms", "beyond": "mechanisms beyond the paper's"}
"""Presets on the same floor, with what they stand for."""
STATIC: Final = ("all-wired-best", "all-wireless-best")
MEASURED: Final = ("completion_ms", "energy_j", "makespan_ms", "exposed_ms")


@dataclass(frozen=True)
class BeyondFigure:
    """THz-SynC on both sets of mechanisms at every pair of weights, and the static ends."""

    comparisons: dict[tuple[str, float, float], Comparison]
    """By preset and weights."""
    iterations: int
    quick: bool = False
    """Whether it is a first look with fewer seeds and iterations."""

    def rows(self) -> list[Row]:
        """Published points first, then ours: one row per configuration, policy and weights."""
        return [*_published(), *self._measured()]

    def _measured(self) -> Iterator[Row]:
        first = min(CONVERGED, self.iterations - 1)
        told = set()
        for (config, time, energy), comparison in self.comparisons.items():
            for policy in comparison.policies:
                static = policy in STATIC
                if static and policy in told:
                    continue
                told.add(policy)
                row: Row = {
                    "config": config,
                    "policy": policy,
                    "time_weight": None if static else time,
                    "energy_weight": None if static else energy,
                }
                for metric in MEASURED:
                    values = comparison.seed_means(policy, metric, first)
                    row[metric], row[f"ci95_{metric}"] = interval95(values)
                yield row

    def claims(self) -> dict[str, bool | None]:
        """Whether some point of ours is at once faster and thriftier than each other point.

        None is undecided: no point of ours is better beyond the intervals of both.
        """
        rows = self.rows()
        ours = [row for row in rows if row["config"] == "beyond"]
        others = [row for row in rows if row["config"] != "beyond" and row["energy_j"] is not None]
        return {f"below {_label(row)}": _below(ours, row) for row in others}

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        comparison = next(iter(self.comparisons.values()))
        return {
            "kind": "beyond",
            "quick": self.quick,
            "scenario": comparison.scenario.name,
            "scenario_sha256": comparison.scenario.digest,
            "seeds": list(comparison.seeds),
            "first_iteration": min(CONVERGED, self.iterations - 1),
            "rows": self.rows(),
            "claims": self.claims(),
            "environment": environment(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the summary, the iteration tables it was made from, and the picture."""
        from thzsync.experiments.plane import save_plane

        target = Path(folder)
        tables = [
            comparison.iterations.with_columns(
                pl.lit(config).alias("config"), pl.lit(time).alias("time_weight")
            )
            for (config, time, _), comparison in self.comparisons.items()
        ]
        scenario = next(iter(self.comparisons.values())).scenario
        write_atomically(target / "scenario.toml", scenario.to_toml().encode())
        write_atomically(target / "iterations.parquet", frame_bytes(pl.concat(tables)))
        write_document(target / "beyond.json", self.document())
        save_plane(self.rows(), target)
        return target


def _published() -> Iterator[Row]:
    """What the paper reports with both coordinates."""
    for policy in PUBLISHED_POLICIES:
        yield _point(
            policy, None, *(published_value("fabric", policy, m) for m in ("completion", "energy"))
        )
    for time in (0.7, 0.3):
        point = (published_weights(time, metric) for metric in ("completion", "energy"))
        yield _point("thz-sync", time, *point)


def _point(
    policy: str, time: float | None, completion_ms: float | None, energy_j: float | None
) -> Row:
    return {
        "config": "published",
        "policy": policy,
        "time_weight": time,
        "energy_weight": None if time is None else round(1 - time, 6),
        "completion_ms": completion_ms,
        "energy_j": energy_j,
        "makespan_ms": None,
        "exposed_ms": None,
        **{f"ci95_{metric}": None for metric in MEASURED},
    }


def _label(row: Row) -> str:
    weights = ""
    if row["time_weight"] is not None:
        weights = f" at {row['time_weight']:g}/{row['energy_weight']:g}"
    return f"{row['config']} {row['policy']}{weights}"


def _below(ours: list[Row], other: Row) -> bool | None:
    """Whether one of our points beats another point in both coordinates beyond the intervals."""
    metrics = ("completion_ms", "energy_j")
    for row in ours:
        gaps = [
            other[m] - row[m] - np.hypot(row[f"ci95_{m}"] or 0.0, other[f"ci95_{m}"] or 0.0)
            for m in metrics
        ]
        if all(gap > 0 for gap in gaps):
            return True
    beaten = any(all(row[m] < other[m] for m in metrics) for row in ours)
    return None if beaten else False


def reproduce_beyond(
    seeds: int = 5,
    iterations: int = 20,
    workers: int | None = None,
    scenario: Scenario | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    quick: bool = False,
) -> BeyondFigure:
    """Train THz-SynC on both sets of mechanisms at five pairs of weights.

    ``scenario`` is a variant of preset ``beyond``; the paper's mechanisms then run on the same
    variant of everything but the methods and the coordinator.
    """
    ours = scenario or Scenario.preset("beyond")
    paper = Scenario.paper()
    settings = {
        "paper": ours.model_copy(
            update={
                "name": paper.name,
                "collectives": paper.collectives,
                "coordinator": paper.coordinator,
            }
        ),
        "beyond": ours,
    }
    comparisons = {}
    for config, setting in settings.items():
        for time, energy in WEIGHTS:
            weighted = setting.model_copy(
                update={"reward": Reward(time_weight=time, energy_weight=energy)}
            )
            # The static ends know no weights: once is enough.
            once = STATIC if config == "beyond" and (time, energy) == WEIGHTS[0] else ()

            def report(done: int, total: int, name: str = f"{config} {time:g}/{energy:g}") -> None:
                if progress is not None:
                    progress(name, done, total)

            comparisons[config, time, energy] = compare(
                weighted, ("thz-sync", *once), seeds, iterations, workers, report
            )
    return BeyondFigure(comparisons, iterations, quick)
