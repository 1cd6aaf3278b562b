"""The paper's trade-off: how the reward's weights move the operating point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from thzsync.experiments.compare import Comparison, compare_settings
from thzsync.paper.figure import Figure, Request, Row, facts, intervals
from thzsync.paper.published import published_weights
from thzsync.records.run import frame_bytes
from thzsync.scenario import Scenario

POLICY: Final = "thz-sync"
WEIGHTS: Final = ((0.7, 0.3), (0.5, 0.5), (0.3, 0.7))
LAST: Final = 5
"""How many of the last iterations are averaged; of fewer than ten, the second half."""
METRICS: Final = ("completion_ms", "energy_j", "makespan_ms", "exposed_ms")


@dataclass(frozen=True)
class WeightsFigure(Figure):
    """THz-SynC at each pair of weights."""

    comparisons: dict[tuple[float, float], Comparison]
    iterations: int
    quick: bool = False
    kind = "weights"

    def rows(self) -> list[Row]:
        """One row per pair of weights."""
        first = max(self.iterations - LAST, self.iterations // 2)
        return [
            {"time_weight": time, "energy_weight": energy}
            | intervals({m: comparison.seed_means(POLICY, m, first) for m in METRICS})
            | {
                "paper_completion_ms": published_weights(time, "completion"),
                "paper_energy_j": published_weights(time, "energy"),
            }
            for (time, energy), comparison in self.comparisons.items()
        ]

    def document(self) -> Row:
        """The figure as plain values."""
        first = self.comparisons[WEIGHTS[0]]
        told = {"seeds": list(first.seeds), "rows": self.rows()}
        return facts(self.kind, first.scenario, self.quick) | told

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The scenario and the iterations of all comparisons."""
        tables = [
            comparison.iterations.with_columns(pl.lit(time).alias("time_weight"))
            for (time, _), comparison in self.comparisons.items()
        ]
        yield "scenario.toml", self.comparisons[WEIGHTS[0]].scenario.to_toml().encode()
        yield "iterations.parquet", frame_bytes(pl.concat(tables))


def reproduce(request: Request) -> WeightsFigure:
    """Train THz-SynC under three pairs of weights in the same realisations.

    What an earlier figure has compared in as many seeds and iterations is used.
    """
    weighted = {
        (time, energy): request.scenario.model_copy(
            update={
                "reward": request.scenario.reward.model_copy(
                    update={"time_weight": time, "energy_weight": energy}
                )
            }
        )
        for time, energy in WEIGHTS
    }
    known = request.known
    found = {
        pair: known.of(POLICY)
        for pair, scenario in weighted.items()
        if known is not None and _covers(known, scenario, request)
    }
    missing = [pair for pair in WEIGHTS if pair not in found]
    settings = [(weighted[pair], (POLICY,)) for pair in missing]
    how = (request.seeds, request.iterations, request.workers, request.part("runs"))
    compared = compare_settings(settings, *how)
    found |= dict(zip(missing, compared, strict=True))
    return WeightsFigure({pair: found[pair] for pair in WEIGHTS}, request.iterations, request.quick)


def _covers(known: Comparison, scenario: Scenario, request: Request) -> bool:
    """Whether a comparison has THz-SynC's runs of a scenario."""
    return (
        known.scenario.digest == scenario.digest
        and known.seeds == tuple(range(request.seeds))
        and POLICY in known.policies
        and known.iterations["iteration"].n_unique() == request.iterations
    )
