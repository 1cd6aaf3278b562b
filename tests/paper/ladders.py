"""A ladder whose numbers are known beforehand."""

from __future__ import annotations

import polars as pl

from thzsync.experiments.comparison import METRICS
from thzsync.paper.ladder import RUNGS, LadderFigure, contenders
from thzsync.scenario import Scenario
from thzsync.studies.result import Sweep
from thzsync.studies.specification import specify


def made_up(seeds: int) -> LadderFigure:
    """On rung k a learner takes 100 - 10 k ms, and a little more in every further seed."""
    rows = [
        {
            **dict.fromkeys(METRICS, 1.0),
            "policy": contender.name,
            "seed": seed,
            "iteration": iteration,
            "completion_ms": 100.0 - 10.0 * RUNGS.index(contender.name.split(" ", 1)[1]) + seed,
            "reward": -1.0,
        }
        for contender in contenders()
        for seed in range(seeds)
        for iteration in range(2)
    ]
    options = {
        "contenders": [c.model_dump() for c in contenders()],
        "seeds": seeds,
        "iterations": 2,
    }
    scenario = Scenario.preset("tiny")
    return LadderFigure(Sweep(specify(options, "ladder"), scenario, ({},), pl.DataFrame(rows)))
