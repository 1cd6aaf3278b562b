"""The ladder: from the paper's coordinator to ours, one departure at a time.

The lowest rung is the paper to the letter. Every rung takes one departure more, for all learners
alike, until no key is left that differs from our defaults. The rungs above leave these: bandits
that learn what a reckoning of the costs misses. A rung is a sweep's contender: its runs are kept
under their keys as they are finished, and are done once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.arrays import FloatArray
from thzsync.experiments.comparison import METRICS
from thzsync.experiments.statistics import interval95, paired_row
from thzsync.files import write_document
from thzsync.paper.contenders import Progress, facts, first_averaged, run_by_seed
from thzsync.paper.published import published_fabric
from thzsync.scenario import Scenario
from thzsync.studies.plan import Plan
from thzsync.studies.result import Sweep, gather
from thzsync.studies.specification import Contender
from thzsync.studies.store import Store
from thzsync.studies.sweeping import plan_sweep, prepared
from thzsync.studies.task import find_references, reference_call

LEARNERS: Final = {"thz-sync": "bandit", "shared-bandit": "shared_bandit", "ddqn": "ddqn"}
"""Policies, and where their own settings are."""
BANDITS: Final = ("thz-sync", "shared-bandit")
LETTER: Final = "to the letter"
"""Name of the lowest rung."""
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


SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "thz-sync": {
        "learning_rate": 0.01, "weight_decay": 0.1, "train_every": 16, "flat_units": 128,
        "units": 63, "exploration": 0.5, "ridge": 0.1,
    },
    "shared-bandit": {
        "learning_rate": 0.01, "weight_decay": 0.1, "train_every": 16, "flat_units": 128,
        "units": 63, "exploration": 0.5, "ridge": 0.1,
    },
    "ddqn": {},
}  # fmt: skip
"""What the same search found best for each learner to the letter (``benchmarks/tune.py --letter``,
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
RECKONINGS: Final = (
    Departure(
        "the residual of a reckoning", {"search": "reckoned"}, {"warm_up": 0}, learners=BANDITS
    ),
    Departure(
        "even splits reckoned, too", {"search": "reckoned-even"}, {"warm_up": 0}, learners=BANDITS
    ),
)
"""The last rungs: what our defaults do not do. Their values make them; a reckoning needs no first
decisions at random."""
RUNGS: Final = (LETTER, *(f"+ {departure.name}" for departure in (*DEPARTURES, *RECKONINGS)))
OURS: Final = RUNGS[len(DEPARTURES)]
"""The rung of our defaults."""


def letter(learner: str, settings: bool = True) -> dict[str, Any]:
    """The keys that take a learner back to the paper's letter, with the settings found for it."""
    return _changes(learner, 0 if settings else 1)


def contenders() -> list[Contender]:
    """Every learner on every rung, rung by rung."""
    return [
        Contender(name=f"{learner} {rung}", policy=learner, set=_changes(learner, taken))
        for taken, rung in enumerate(RUNGS)
        for learner in LEARNERS
    ]


def _changes(learner: str, taken: int) -> dict[str, Any]:
    if taken > len(DEPARTURES):
        return RECKONINGS[taken - len(DEPARTURES) - 1].keys(learner)
    changes: dict[str, Any] = {}
    for departure in DEPARTURES[taken:]:
        changes |= departure.keys(learner)
    return changes


@dataclass(frozen=True)
class LadderFigure:
    """Every learner on every rung, in the same realisations."""

    sweep: Sweep
    quick: bool = False
    """Whether it is a first look with fewer seeds and iterations."""

    @property
    def seeds(self) -> list[int]:
        """Seeds that every learner has finished on every rung."""
        frame = self.sweep.frame
        counts = frame.group_by("seed").agg(pl.col("policy").n_unique())
        whole = counts.filter(pl.col("policy") == len(self.sweep.policies))
        return sorted(whole["seed"].to_list())

    def rows(self) -> list[dict[str, Any]]:
        """Per learner and rung: means, what the rung's departure changed, and when it converged."""
        return [self._row(learner, place) for learner in LEARNERS for place in range(len(RUNGS))]

    def _row(self, learner: str, place: int) -> dict[str, Any]:
        name, below = (f"{learner} {RUNGS[p]}" for p in (place, max(0, place - 1)))

        def values(metric: str) -> FloatArray:
            return self._means(name, metric)

        def pairs(metric: str) -> FloatArray:
            return values(metric) - self._means(below, metric)

        row: dict[str, Any] = {"policy": learner, "rung": RUNGS[place]}
        row |= paired_row(METRICS, values, pairs)
        first, settled = self._course(name)
        row["first_completion_ms"], row["ci95_first_completion_ms"] = interval95(first)
        row["settled_after"], row["ci95_settled_after"] = interval95(settled)
        for key, metric in (("completion_ms", "completion"), ("energy_j", "energy")):
            row[f"paper_{key}"] = published_fabric(learner, metric)
        row["paper_reward"] = published_fabric(learner, "reward")
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

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        return facts("ladder", self.sweep, self.quick) | {
            "seeds": self.seeds,
            "rungs": list(RUNGS),
            "ours": OURS,
            "rows": self.rows(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the summary, the table and the picture."""
        from thzsync.drawing import save_picture
        from thzsync.paper.ladder_picture import draw_ladder

        target = self.sweep.save(folder)
        document = self.document()
        write_document(target / "ladder.json", document)
        save_picture(draw_ladder(document), target / "figures" / "ladder_by_rung.svg")
        return target


def settled_after(rewards: FloatArray) -> int:
    """The first iteration (from 1) whose reward is near the mean of the last ones, or better."""
    final = float(np.mean(rewards[-FINAL:]))
    return int(np.argmax(rewards >= final - NEAR * abs(final))) + 1


def reproduce_ladder(
    seeds: int = 5,
    iterations: int = 20,
    workers: int | None = None,
    scenario: Scenario | None = None,
    progress: Progress | None = None,
    quick: bool = False,
    out: str | Path | None = None,
) -> LadderFigure:
    """Run every learner on every rung; what ``out`` holds already is not done again."""
    setting = scenario or Scenario.paper()
    options = {
        "contenders": [c.model_dump() for c in contenders()],
        "seeds": list(range(seeds)),
        "iterations": iterations,
        "first": first_averaged(iterations),
    }
    plan = plan_sweep(setting, options)
    with prepared(plan, out, resume=True) as store:
        _share_references(plan, store)
        run_by_seed(plan, store, workers, "ladder", progress)
        return LadderFigure(gather(plan, store), quick)


def _share_references(plan: Plan, store: Store) -> None:
    """Rungs differ in how a learner learns, so All-Wired costs the same on all of them."""
    found: dict[int, bytes] = {}
    for run in plan.runs:
        key = run.realisation.key
        known = store.references(key)
        if known is None:
            if run.seed not in found:
                found[run.seed] = find_references(reference_call(run.realisation).payload)
            store.commit_references(key, found[run.seed])
        else:
            found.setdefault(run.seed, known)
