"""The paper's main figure: its six policies, and fair rivals, over 20 iterations of the trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from thzsync.arrays import FloatArray
from thzsync.experiments.compare import Comparison, compare_settings
from thzsync.experiments.statistics import verdict
from thzsync.names import POLICIES, PUBLISHED_POLICIES
from thzsync.paper.figure import Figure, Request, Row, intervals
from thzsync.paper.oracle import SHARES, Oracle, best_choices, judge
from thzsync.paper.published import COLUMNS, published_fabric, published_gain_pct

SAVED: Final = {
    "gain": "completion_ms", "makespan_gain": "makespan_ms", "exposed_gain": "exposed_ms",
}  # fmt: skip
"""What can be saved: the sum of event times, the iteration, what compute does not hide of it."""
QUICKER: Final = "thz-sync, model-based start"
"""Name in tables of THz-SynC that learns the error of a cost model."""
QUICKER_KEYS: Final = {"coordinator.search": "model-based-even", "coordinator.bandit.warm_up": 0}
"""The keys that make it."""
LAST: Final = 5
"""Iterations at the end that count as final."""


@dataclass(frozen=True)
class FabricFigure(Figure):
    """The comparison, the hindsight oracle, and both beside the published numbers."""

    comparison: Comparison
    oracle: Oracle
    first: int
    quick: bool = False
    quicker: Comparison | None = None
    """THz-SynC that starts from a cost model, in the same realisations."""

    def rows(self) -> list[Row]:
        """One row per policy with intervals and published values."""
        rows = self.comparison.rows(self.first, against="thz-sync")
        for row in rows:
            for metric, column in COLUMNS.items():
                row[f"paper_{column}"] = published_fabric(row["policy"], metric)
            row["paper_makespan_ms"] = None
            row["oracle_gap_pct"] = 100 * (self.oracle.reward - row["reward"]) / -self.oracle.reward
        return rows

    def gains(self) -> list[Row]:
        """By how much THz-SynC is faster than every rival, ours and published [%]."""
        return [self._gain(policy) for policy in self.comparison.policies[1:]]

    def _gain(self, policy: str) -> Row:
        def saved_pct(metric: str) -> FloatArray:
            ours, theirs = (
                self.comparison.seed_means(p, metric, self.first) for p in ("thz-sync", policy)
            )
            # Where a rival exposes nothing, nothing can be saved.
            spent: FloatArray = np.where(theirs > 0, theirs, np.nan)
            saved: FloatArray = 100 * (spent - ours) / spent
            return saved

        row = {"policy": policy, "paper_pct": published_gain_pct(policy)}
        return row | intervals({f"{name}_pct": saved_pct(m) for name, m in SAVED.items()})

    def claims(self) -> Iterator[tuple[str, bool | None]]:
        """What the paper's text says of THz-SynC, and whether it holds beyond paired intervals.

        None is undecided: there is one seed, or an interval spans zero.
        """
        rows = {row["policy"]: row for row in self.rows()}
        rivals = [rows[policy] for policy in PUBLISHED_POLICIES[1:] if policy in rows]
        for row in rivals:
            yield f"faster than {row['policy']}", _above(row, "completion_ms")
        for row in rivals:
            yield f"higher reward than {row['policy']}", _below(row, "reward")
        if {"all-wireless", "all-wired"} <= rows.keys():
            ends = (_below(rows["all-wireless"], "energy_j"), _above(rows["all-wired"], "energy_j"))
            yield "energy between all-wireless and all-wired", _both(*ends)

    def document(self) -> Row:
        """The figure as plain values."""
        return self.comparison.document(self.first) | {
            "kind": "fabric",
            "quick": self.quick,
            "rows": self.rows(),
            "gains": self.gains(),
            "claims": dict(self.claims()),
            "oracle": self.oracle.document(),
            "regrets": regret_rows(self.comparison, self.quicker, self.oracle),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the comparison with this figure's summary."""
        return self.comparison.save(folder, self.document())


def _above(row: Row, metric: str) -> bool | None:
    """Whether a rival's value is above that of THz-SynC in the same realisations."""
    return verdict(row[f"diff_{metric}"], row[f"ci95_diff_{metric}"])


def _below(row: Row, metric: str) -> bool | None:
    return verdict(-row[f"diff_{metric}"], row[f"ci95_diff_{metric}"])


def _both(one: bool | None, other: bool | None) -> bool | None:
    """Both hold; one that fails decides, whatever the other is."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def regret_rows(runs: Comparison, quicker: Comparison | None, oracle: Oracle) -> list[Row]:
    """Every policy's regret, and that of the model-based start where it ran in the same seeds."""
    if len(oracle.whole) != len(runs.seeds):
        return []
    rows = [regret_row(policy, runs, policy, oracle) for policy in runs.policies]
    if quicker is not None and quicker.seeds == runs.seeds:
        rows.append(regret_row(QUICKER, quicker, "thz-sync", oracle))
    return rows


def regret_row(name: str, runs: Comparison, policy: str, oracle: Oracle) -> Row:
    """Regret of all iterations [%], and the first iteration beside the final ones.

    The oracle is the best fixed choice per collective type in hindsight, in the same seeds.
    """
    best = np.asarray(oracle.whole)
    rewards = runs.seed_means(policy, "reward")
    times_ms = _by_iteration(runs, policy, "completion_ms")
    first_ms, final_ms = times_ms[:, 0], times_ms[:, -LAST:].mean(axis=1)
    final = _by_iteration(runs, policy, "reward")[:, -LAST:].mean(axis=1)
    values = {
        "regret_pct": 100 * (best - rewards) / -best,
        "first_completion_ms": first_ms,
        "final_completion_ms": final_ms,
        "first_above_final_pct": 100 * (first_ms - final_ms) / final_ms,
        "final_reward": final,
    }
    return {"policy": name} | intervals(values)


def _by_iteration(runs: Comparison, policy: str, metric: str) -> FloatArray:
    """Values by (seed, iteration)."""
    frame = runs.iterations.filter(pl.col("policy") == policy).sort("seed", "iteration")
    values: FloatArray = frame[metric].to_numpy().astype(np.float64)
    return values.reshape(len(runs.seeds), -1)


def reproduce(request: Request) -> FabricFigure:
    """Run all policies and the oracle on the same trace and realisations.

    A quick look searches the oracle on a coarse grid and leaves its per-event part and the
    model-based start out. Finished comparisons are kept at once, should the rest be interrupted.
    """
    scenario, workers, quick = request.scenario, request.workers, request.quick
    settings = [(scenario, POLICIES)]
    if not quick:
        settings.append((scenario.with_(QUICKER_KEYS), ("thz-sync",)))

    def keep(partial: Comparison) -> None:
        if request.folder is not None:  # readable as a comparison until the figure takes its place
            partial.save(request.folder)

    comparison, *quicker = compare_settings(
        settings, request.seeds, request.iterations, workers, request.part("policies"), keep
    )
    keep(comparison)
    choices = best_choices(
        scenario,
        iterations=1 if quick else 2,
        shares=SHARES[::2] if quick else SHARES,
        workers=workers,
        progress=request.part("oracle"),
    )
    oracle = judge(
        scenario,
        choices,
        comparison.seeds,
        request.iterations,
        request.first,
        workers,
        request.part("oracle's score"),
        by_event=not quick,
    )
    return FabricFigure(comparison, oracle, request.first, quick, *quicker)
