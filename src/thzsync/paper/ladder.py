"""The ablation: from the paper's coordinator to ours, one departure at a time.

The first step is the faithful implementation. Every step adds one departure for all learners, until
no key differs from our defaults. In the last steps, bandits learn the error of a cost model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.arrays import FloatArray
from thzsync.experiments.comparison import METRICS
from thzsync.experiments.statistics import paired_row
from thzsync.paper.figure import Request, Row, SweepFigure, intervals, run_contenders
from thzsync.paper.pictures import draw_ladder
from thzsync.paper.published import COLUMNS, published_fabric
from thzsync.studies.specification import Contender

LEARNERS: Final = {"thz-sync": "bandit", "shared-bandit": "shared_bandit", "ddqn": "ddqn"}
"""Policies, and where their own settings are."""
BANDITS: Final = ("thz-sync", "shared-bandit")
NEAR: Final = 0.05
"""How near to its final reward a learner counts as converged, as a share of that."""
FINAL: Final = 5
"""Iterations at the end whose mean is the final reward."""


@dataclass(frozen=True)
class Departure:
    """A choice that is not in the paper, and the keys that make or undo it."""

    name: str
    common: dict[str, Any] = field(default_factory=dict)
    """Keys that all learners share, under ``coordinator.``."""
    own: dict[str, Any] = field(default_factory=dict)
    """Keys of a learner's own settings."""
    each: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The same by learner, where their values differ."""
    learners: tuple[str, ...] = tuple(LEARNERS)
    """Who has these keys."""

    def keys(self, learner: str) -> dict[str, Any]:
        """The scenario's keys for a learner."""
        if learner not in self.learners:
            return {}
        values = self.own | self.each.get(learner, {})
        own = {f"coordinator.{LEARNERS[learner]}.{key}": v for key, v in values.items()}
        return {f"coordinator.{key}": v for key, v in self.common.items()} | own


_FOUND: Final[dict[str, Any]] = {
    "learning_rate": 0.01, "weight_decay": 0.1, "train_every": 16, "flat_units": 128,
    "units": 63, "exploration": 0.5, "ridge": 0.1,
}  # fmt: skip
SETTINGS: Final = {"thz-sync": _FOUND, "shared-bandit": _FOUND, "ddqn": {}}
"""What the same search found best for each faithful learner (``benchmarks/tune.py --letter``,
docs/reproduction.md); the paper gives no values."""

DEPARTURES: Final = (
    Departure("settings searched for ours", each=SETTINGS),
    Departure("pooled encoder", {"encoder": "flat"}),
    Departure("search from uniform actions", {"search": "partial"}),
    Departure("a price on leaving them", own={"deviation_cost": 0.0}),
    Departure("compressed rewards", {"reward": "raw"}),
    Departure("sorted gains", {"gains": "by-subband"}),
    Departure("spread first decisions", own={"warm_up": 0}, learners=BANDITS),
)
"""In the order in which they are taken; the values are the paper's, which they replace."""
MODEL_BASED: Final = (
    Departure("cost model", {"search": "model-based"}, {"warm_up": 0}, learners=BANDITS),
    Departure(
        "cost model with even splits",
        {"search": "model-based-even"},
        {"warm_up": 0},
        learners=BANDITS,
    ),
)
"""The last steps: what our defaults do not do. The values are ours; a cost model needs no first
decisions at random."""
RUNGS: Final = ("faithful", *(f"+ {departure.name}" for departure in (*DEPARTURES, *MODEL_BASED)))
OURS: Final = RUNGS[len(DEPARTURES)]
"""The step of our defaults."""


def letter(learner: str, settings: bool = True) -> dict[str, Any]:
    """The keys of a learner's faithful implementation, with the settings found for it."""
    return _changes(learner, 0 if settings else 1)


def contenders() -> list[Contender]:
    """Every learner in every step, step by step."""
    return [
        Contender(name=f"{learner} {rung}", policy=learner, set=_changes(learner, taken))
        for taken, rung in enumerate(RUNGS)
        for learner in LEARNERS
    ]


def _changes(learner: str, taken: int) -> dict[str, Any]:
    if taken > len(DEPARTURES):
        return MODEL_BASED[taken - len(DEPARTURES) - 1].keys(learner)
    changes: dict[str, Any] = {}
    for departure in DEPARTURES[taken:]:
        changes |= departure.keys(learner)
    return changes


class LadderFigure(SweepFigure):
    """Every learner in every step, in the same realisations."""

    kind = "ladder"
    picture = "ladder_by_rung"
    draw = staticmethod(draw_ladder)

    @property
    def seeds(self) -> list[int]:
        """Seeds that every learner has finished in every step."""
        frame = self.sweep.frame
        counts = frame.group_by("seed").agg(pl.col("policy").n_unique())
        whole = counts.filter(pl.col("policy") == len(self.sweep.policies))
        return sorted(whole["seed"].to_list())

    def rows(self) -> list[Row]:
        """Per learner and step: means, what the departure changed, and when it converged."""
        return [self._row(learner, place) for learner in LEARNERS for place in range(len(RUNGS))]

    def _row(self, learner: str, place: int) -> Row:
        name, below = (f"{learner} {RUNGS[p]}" for p in (place, max(0, place - 1)))
        values, before = partial(self._means, name), partial(self._means, below)
        row: Row = {"policy": learner, "rung": RUNGS[place]}
        row |= paired_row(METRICS, values, lambda metric: values(metric) - before(metric))
        first, settled = self._course(name)
        row |= intervals({"first_completion_ms": first, "settled_after": settled})
        for metric, column in COLUMNS.items():
            row[f"paper_{column}"] = published_fabric(learner, metric)
        return row

    def _means(self, name: str, metric: str) -> FloatArray:
        means = self.sweep.seed_means({}, name)
        kept = means.filter(pl.col("seed").is_in(self.seeds))
        return np.asarray(kept[metric], dtype=np.float64)

    def _course(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Per seed: time of the first iteration [ms], and when the reward came near its end."""
        mine = self.sweep.frame.filter(pl.col("policy") == name)
        runs = [mine.filter(pl.col("seed") == seed).sort("iteration") for seed in self.seeds]
        first = np.array([run["completion_ms"][0] for run in runs])
        rewards = (run["reward"].to_numpy() for run in runs)
        return first, np.array([settled_after(reward) for reward in rewards], dtype=np.float64)

    def numbers(self) -> Row:
        """Steps and rows."""
        return {"seeds": self.seeds, "rungs": list(RUNGS), "ours": OURS, "rows": self.rows()}


def settled_after(rewards: FloatArray) -> int:
    """The first iteration (from 1) whose reward is near the mean of the last ones, or better."""
    final = float(np.mean(rewards[-FINAL:]))
    return int(np.argmax(rewards >= final - NEAR * abs(final))) + 1


def reproduce(request: Request) -> LadderFigure:
    """Run every learner in every step."""
    return run_contenders(LadderFigure, contenders(), request)
