"""The hyper-parameter search behind the defaults: the same budget for every learning policy.

Each policy gets the same number of settings (its defaults and random draws from its own grid),
each judged by the mean reward over iterations 11-20 in seeds that the published comparison does not
use. ``python benchmarks/tune.py [--settings 8] [--seeds 2] [--policy NAME] [--out FILE]``
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
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate

FIRST_SEED: Final = 100
CONVERGED: Final = 10
SECTION: Final = {"thz-sync": "bandit", "shared-bandit": "shared_bandit", "ddqn": "ddqn"}
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

Setting = dict[str, Any]


def settings_of(policy: str, count: int) -> list[Setting]:
    """The defaults, then draws from the policy's grid; the same draws in every run."""
    draw = np.random.default_rng(0)
    grid = GRID[policy]
    drawn = [
        {key: values[int(draw.integers(len(values)))] for key, values in grid.items()}
        for _ in range(count - 1)
    ]
    return [{}, *drawn]


@cache
def references(seed: int) -> dict[str, tuple[float, float]]:
    return reference_costs(Scenario.paper(), seed)


def judged(item: tuple[str, Setting, int, int]) -> float:
    """Mean reward of one run over its converged iterations."""
    policy, setting, seed, iterations = item
    scenario = Scenario.paper()
    section = SECTION[policy]
    learner = getattr(scenario.coordinator, section)
    learner = type(learner).model_validate(learner.model_dump() | setting)
    coordinator = scenario.coordinator.model_copy(update={section: learner})
    scenario = scenario.model_copy(update={"coordinator": coordinator})
    run = simulate(scenario, policy, iterations, seed, references(seed))
    first = min(CONVERGED, iterations // 2)
    return fmean(run.events.filter(pl.col("iteration") >= first)["reward"])


def tune(policy: str, count: int, seeds: int, iterations: int) -> list[dict[str, Any]]:
    """Every setting with its rewards, best first."""
    tried = settings_of(policy, count)
    chosen = range(FIRST_SEED, FIRST_SEED + seeds)
    items = [(policy, setting, seed, iterations) for setting in tried for seed in chosen]
    rewards = np.reshape(map_runs(judged, items, progress=_count), (count, seeds))
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
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for policy in given.policy or GRID:
        rows += tune(policy, given.settings, given.seeds, given.iterations)
        text = "\n".join(json.dumps(row) for row in rows) + "\n"
        if given.out:
            given.out.write_text(text, "utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
