"""What was possible in hindsight: per collective type, and per event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from thzsync.coordinator import Action, Context, Outcome
from thzsync.experiments.parallel import map_runs
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate
from thzsync.simulation.records import References

SHARES = tuple(k / 8 for k in range(9))
"""THz shares that the search tries first."""
REFINED = (-1 / 16, 1 / 16)
"""Steps around the best share that it tries afterwards."""

Choice = tuple[float, float]
"""THz share and power level."""


@dataclass(frozen=True)
class FixedPerType:
    """A policy with one split and one power per collective type."""

    choices: dict[str, Choice]
    name: str = field(default="fixed-per-type")

    def decide(self, context: Context) -> Action:
        """The fixed split of the event's type."""
        return Action.uniform(context.plan, *self.choices[context.kind.value])

    def learn(self, context: Context, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


@dataclass(frozen=True)
class Oracle:
    """The best choices found, and what they achieve together."""

    choices: dict[str, Choice]
    reward: float
    completion_ms: float
    energy_j: float

    def document(self) -> dict[str, Any]:
        """The oracle as plain values."""
        return {
            "reward": self.reward,
            "completion_ms": self.completion_ms,
            "energy_j": self.energy_j,
            "choices": {
                kind: {"thz_share": share, "power": power}
                for kind, (share, power) in self.choices.items()
            },
        }


@dataclass(frozen=True)
class _Trial:
    scenario: Scenario
    choices: dict[str, Choice]
    iterations: int
    seed: int
    references: References


def _try(trial: _Trial) -> dict[str, float]:
    """Mean reward per collective type, and the iteration means, of one fixed choice."""
    policy = FixedPerType(trial.choices)
    run = simulate(trial.scenario, policy, trial.iterations, trial.seed, trial.references)
    by_kind = run.events.group_by("kind").agg(pl.col("reward").mean())
    means = {f"kind:{kind}": reward for kind, reward in by_kind.iter_rows()}
    return means | {m: run.summary[m] for m in ("reward", "completion_ms", "energy_j")}


def find_oracle(
    scenario: Scenario,
    seed: int = 0,
    iterations: int = 2,
    references: References | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Oracle:
    """Search split and power of all types at once; types hardly touch each other's cost.

    Every trial gives all types the same choice, each type keeps its best, and a second pass
    refines the shares around the combined optimum.
    """
    reference = references or reference_costs(scenario, seed)
    kinds = sorted(reference)
    levels = scenario.coordinator.power_levels

    def evaluate(candidates: list[dict[str, Choice]]) -> list[dict[str, float]]:
        trials = [_Trial(scenario, c, iterations, seed, reference) for c in candidates]
        return map_runs(_try, trials, workers=workers, progress=progress)

    grid = [dict.fromkeys(kinds, (share, power)) for share in SHARES for power in levels]
    best = _best_per_kind(kinds, grid, evaluate(grid))
    nearby = [best] + [
        {k: (min(1.0, max(0.0, best[k][0] + step)), best[k][1]) for k in kinds} for step in REFINED
    ]
    best = _best_per_kind(kinds, nearby, evaluate(nearby))
    final = evaluate([best])[0]
    return Oracle(best, final["reward"], final["completion_ms"], final["energy_j"])


def _best_per_kind(
    kinds: list[str], candidates: list[dict[str, Choice]], results: list[dict[str, float]]
) -> dict[str, Choice]:
    best = {}
    for kind in kinds:
        rewards = [result[f"kind:{kind}"] for result in results]
        best[kind] = candidates[rewards.index(max(rewards))][kind]
    return best


def per_event_reward(
    scenario: Scenario, oracle: Oracle, seed: int = 0, references: References | None = None
) -> float:
    """Mean reward of one iteration in which every event is decided by its true outcome."""
    from thzsync.simulation.lookahead import simulate_lookahead

    reference = references or reference_costs(scenario, seed)
    run = simulate_lookahead(scenario, seed, reference, FixedPerType(oracle.choices))
    return run.summary["reward"]
