"""What learning costs: regret over all iterations, from the very first one.

The oracle is the best fixed choice per collective type in hindsight. A learner pays while it does
not know yet; a reckoned start should pay next to nothing. Everything is paired by seed.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.arrays import FloatArray
from thzsync.experiments.comparison import Comparison
from thzsync.experiments.statistics import interval95
from thzsync.paper.oracle import Oracle

QUICKER: Final = "thz-sync, reckoned start"
"""What tables call THz-SynC that learns the residual of a reckoning."""
QUICKER_KEYS: Final = {"coordinator.search": "reckoned-even", "coordinator.bandit.warm_up": 0}
"""The keys that make it."""
LAST: Final = 5
"""Iterations at the end that count as final."""

Row = dict[str, Any]


def regret_rows(runs: Comparison, quicker: Comparison | None, oracle: Oracle) -> list[Row]:
    """Every policy's regret, and that of the reckoned start where it ran in the same seeds."""
    if len(oracle.whole) != len(runs.seeds):
        return []
    rows = [regret_row(policy, runs, policy, oracle) for policy in runs.policies]
    if quicker is not None and quicker.seeds == runs.seeds:
        rows.append(regret_row(QUICKER, quicker, "thz-sync", oracle))
    return rows


def regret_row(name: str, runs: Comparison, policy: str, oracle: Oracle) -> Row:
    """Regret of all iterations [%], and the first iteration beside the final ones."""
    best = np.asarray(oracle.whole)
    rewards = runs.seed_means(policy, "reward")
    times_ms = _by_iteration(runs, policy, "completion_ms")
    first_ms, final_ms = times_ms[:, 0], times_ms[:, -LAST:].mean(axis=1)
    final = _by_iteration(runs, policy, "reward")[:, -LAST:].mean(axis=1)
    row: Row = {"policy": name}
    for key, values in {
        "regret_pct": 100 * (best - rewards) / -best,
        "first_completion_ms": first_ms,
        "final_completion_ms": final_ms,
        "first_above_final_pct": 100 * (first_ms - final_ms) / final_ms,
        "final_reward": final,
    }.items():
        row[key], row[f"ci95_{key}"] = interval95(values)
    return row


def _by_iteration(runs: Comparison, policy: str, metric: str) -> FloatArray:
    """Values by (seed, iteration)."""
    frame = runs.iterations.filter(pl.col("policy") == policy).sort("seed", "iteration")
    values: FloatArray = frame[metric].to_numpy().astype(np.float64)
    return values.reshape(len(runs.seeds), -1)
