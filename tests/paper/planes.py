"""A made-up plane of delay and energy."""

from __future__ import annotations

import polars as pl

from thzsync.experiments.comparison import METRICS
from thzsync.paper.beyond import POINTS, BeyondFigure, Point
from thzsync.scenario import Scenario
from thzsync.studies.result import Sweep
from thzsync.studies.specification import specify


def made_up(seeds: int, paper_ms: float = 700.0, beyond_ms: float = 350.0) -> BeyondFigure:
    """Time falls and energy rises with the weight of time; seeds differ by a millisecond."""

    def row(point: Point, seed: int) -> dict[str, float | int | str]:
        weight = point.time_weight or 1.0
        base = beyond_ms if point.config == "beyond" else paper_ms
        return {
            **dict.fromkeys(METRICS, 1.0),
            "policy": point.name,
            "seed": seed,
            "iteration": 0,
            "completion_ms": base / weight + seed,
            "energy_j": 20.0 * weight - (5.0 if point.config == "beyond" else 0.0),
        }

    rows = [row(point, seed) for point in POINTS for seed in range(seeds)]
    options = {
        "base": "beyond",
        "contenders": [point.contender().model_dump() for point in POINTS],
        "seeds": seeds,
        "iterations": 1,
        "first": 0,
    }
    sweep = Sweep(specify(options, "x"), Scenario.preset("beyond"), ({},), pl.DataFrame(rows))
    return BeyondFigure(sweep)
