"""The hyper-parameter search behind the defaults: the same budget for every learning policy.

Each policy gets the same number of settings (its defaults and random draws from its own grid),
each judged by the mean reward over iterations 11-20 in seeds that the published comparison does not
use. ``--letter`` searches for the paper's own coordinator (see ``thzsync.paper.ladder``), whose
sizes, rates and schedules the paper leaves open, with a grid of its own; what all learners have in
common is drawn alike for all of them.

``python benchmarks/tune.py [--letter] [--settings 8] [--seeds 2] [--policy NAME] [--out FILE]``
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.experiments.parallel import map_runs
from thzsync.paper.ladder import LEARNERS, letter
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate

FIRST_SEED: Final = 100
CONVERGED: Final = 10
LEARNER: Final[dict[str, list[Any]]] = {
    "learning_rate": [1e-3, 3e-3, 1e-2],
    "weight_decay": [1e-4, 0.1, 0.3],
    "train_every": [16, 32],
    "deviation_cost": [0.001, 0.003, 0.01],
}
BANDIT: Final = LEARNER | {
    "ridge": [0.1, 1.0, 3.0],
    "exploration": [0.005, 0.02, 0.05],
    "warm_up": [12, 24, 48],
}
DDQN: Final = LEARNER | {
    "discount": [0.1, 0.3, 0.6, 0.9],
    "epsilon_events": [240, 480, 720],
    "epsilon_end": [0.0, 0.02, 0.05],
    "target_every": [1, 2, 4],
}
GRID: Final = {"thz-sync": BANDIT, "shared-bandit": BANDIT, "ddqn": DDQN}
FLAT: Final[dict[str, list[Any]]] = {
    "learning_rate": [3e-4, 1e-3, 3e-3, 1e-2],
    "weight_decay": [1e-4, 0.1],
    "train_every": [8, 16, 32],
    "flat_units": [64, 128],
    "units": [23, 63],
}
"""What the letter leaves open, for every learner; it has no deviation cost and no warm-up."""
EXPLORING: Final[dict[str, list[Any]]] = {"exploration": [0.02, 0.1, 0.5], "ridge": [0.1, 1.0]}
LETTER_GRID: Final = {
    "thz-sync": FLAT | EXPLORING,
    "shared-bandit": FLAT | EXPLORING,
    "ddqn": FLAT | {"epsilon_events": [120, 240, 480], "discount": [0.1, 0.6]},
}

Setting = dict[str, Any]


def settings_of(policy: str, count: int, to_the_letter: bool = False) -> list[Setting]:
    """The defaults, then draws from the policy's grid; the same draws in every run."""
    draw = np.random.default_rng(0)
    grid = (LETTER_GRID if to_the_letter else GRID)[policy]
    drawn = [
        {key: values[int(draw.integers(len(values)))] for key, values in grid.items()}
        for _ in range(count - 1)
    ]
    return [{}, *drawn]


@cache
def references(seed: int) -> dict[str, tuple[float, float]]:
    return reference_costs(Scenario.paper(), seed)


def judged(item: tuple[str, Setting, int, int, bool]) -> float:
    """Mean reward of one run over its converged iterations."""
    policy, setting, seed, iterations, to_the_letter = item
    keys = letter(policy, settings=False) if to_the_letter else {}
    keys |= {f"coordinator.{LEARNERS[policy]}.{key}": value for key, value in setting.items()}
    scenario = Scenario.paper().with_(keys) if keys else Scenario.paper()
    run = simulate(scenario, policy, iterations, seed, references(seed))
    first = min(CONVERGED, iterations // 2)
    return fmean(run.events.filter(pl.col("iteration") >= first)["reward"])


def tune(
    policy: str, count: int, seeds: int, iterations: int, to_the_letter: bool, workers: int | None
) -> list[dict[str, Any]]:
    """Every setting with its rewards, best first."""
    tried = settings_of(policy, count, to_the_letter)
    chosen = range(FIRST_SEED, FIRST_SEED + seeds)
    items = [
        (policy, setting, seed, iterations, to_the_letter) for setting in tried for seed in chosen
    ]
    found = map_runs(judged, items, workers=workers, progress=_count)
    rewards = np.reshape(found, (count, seeds))
    rows = [
        {"policy": policy, "reward": float(of.mean()), "by_seed": of.tolist(), **setting}
        for setting, of in zip(tried, rewards, strict=True)
    ]
    return sorted(rows, key=lambda row: -row["reward"])


def _count(done: int, total: int) -> None:
    print(f"\r{done}/{total}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--policy", choices=list(GRID), action="append")
    parser.add_argument("--letter", action="store_true", help="the paper's own coordinator")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for policy in given.policy or GRID:
        rows += tune(
            policy, given.settings, given.seeds, given.iterations, given.letter, given.workers
        )
        text = "\n".join(json.dumps(row) for row in rows) + "\n"
        if given.out:
            given.out.write_text(text, "utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
