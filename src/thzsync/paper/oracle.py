"""What was possible in hindsight: per collective type, and per event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

import polars as pl

from thzsync.coordinator import Action, Outcome, Situation
from thzsync.experiments.parallel import map_runs
from thzsync.experiments.references import known_references, references_of
from thzsync.records.run import References
from thzsync.scenario import Scenario
from thzsync.simulation import simulate

SHARES = tuple(k / 8 for k in range(9))
"""THz shares that the search tries first."""
REFINED = (1 / 16, 1 / 32)
"""Steps around the best share that it tries afterwards, both ways, one after the other."""

METRICS = ("reward", "completion_ms", "energy_j", "makespan_ms", "exposed_ms")
"""What its choices are judged by."""

WHOLE = "whole"
"""Where a trial keeps its reward over all iterations."""

Choice = tuple[float, float]
"""THz share and power level."""


@dataclass(frozen=True)
class FixedPerType:
    """A policy with one split and one power per collective type."""

    choices: dict[str, Choice]
    name: str = field(default="fixed-per-type")

    def decide(self, situation: Situation) -> Action:
        """The fixed split of the event's type."""
        return Action.uniform(situation.offer, *self.choices[situation.kind])

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


@dataclass(frozen=True)
class Oracle:
    """The best fixed choices in hindsight, and what they achieve where the policies were judged."""

    choices: dict[str, Choice]
    reward: float
    completion_ms: float
    energy_j: float
    makespan_ms: float | None = None
    exposed_ms: float | None = None
    per_event: dict[str, float] | None = None
    """Rewards of one iteration: ``fixed`` by these choices, ``lookahead`` by true outcomes."""
    whole: tuple[float, ...] = ()
    """Mean reward over all iterations in each of the seeds."""

    def document(self) -> dict[str, Any]:
        """The oracle as plain values."""
        choices = {
            kind: {"thz_share": share, "power": power}
            for kind, (share, power) in self.choices.items()
        }
        return asdict(self) | {"choices": choices}


def _try(
    scenario: Scenario,
    choices: dict[str, Choice],
    iterations: int,
    seed: int,
    references: References | None,
    first: int = 0,
) -> dict[str, float]:
    """Mean reward per collective type, and means over the iterations from ``first`` on."""
    run = simulate(scenario, FixedPerType(choices), iterations, seed, references, detailed=False)
    by_kind = run.events.group_by("kind").agg(pl.col("reward").mean())
    means = {f"kind:{kind}": reward for kind, reward in by_kind.iter_rows()}
    judged = run.iterations.filter(pl.col("iteration") >= first)
    means[WHOLE] = float(run.iterations["reward"].to_numpy().mean())
    return means | {metric: float(judged[metric].to_numpy().mean()) for metric in METRICS}


def best_choices(
    scenario: Scenario,
    seed: int = 0,
    iterations: int = 2,
    shares: Sequence[float] = SHARES,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Choice]:
    """Search split and power of all types at once; types hardly touch each other's cost.

    Every trial gives all types the same choice and each type keeps its best; then shares are
    refined around the combined optimum.
    """
    reference = references_of(scenario, seed)
    kinds = sorted(reference)
    levels = scenario.coordinator.power_levels

    def pick(candidates: list[dict[str, Choice]]) -> dict[str, Choice]:
        trials = [partial(_try, scenario, c, iterations, seed, reference) for c in candidates]
        results = map_runs(_done, trials, workers, progress)
        best = {}
        for kind in kinds:
            rewards = [result[f"kind:{kind}"] for result in results]
            best[kind] = candidates[rewards.index(max(rewards))][kind]
        return best

    best = pick([dict.fromkeys(kinds, (share, power)) for share in shares for power in levels])
    for step in REFINED:
        near = [
            {k: (min(1.0, max(0.0, share + by)), power) for k, (share, power) in best.items()}
            for by in (-step, step)
        ]
        best = pick([best, *near])
    return best


def judge(
    scenario: Scenario,
    choices: dict[str, Choice],
    seeds: Sequence[int],
    iterations: int,
    first: int,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    by_event: bool = False,
) -> Oracle:
    """What the choices achieve in the same seeds and iterations in which policies are judged.

    ``by_event``, and what every single event's true outcome would allow, beside.
    """
    work = [
        partial(_try, scenario, choices, iterations, s, known_references(scenario, s), first)
        for s in seeds
    ]
    if by_event:  # the longest, so it comes first
        work.insert(0, partial(per_event, scenario, choices, reference=references_of(scenario, 0)))
    results = map_runs(_done, work, workers, progress)
    single = results.pop(0) if by_event else None
    means = {metric: fmean(result[metric] for result in results) for metric in METRICS}
    whole = tuple(result[WHOLE] for result in results)
    return Oracle(choices, **means, per_event=single, whole=whole)


def _done(work: Callable[[], dict[str, float]]) -> dict[str, float]:
    return work()


def per_event(
    scenario: Scenario,
    choices: dict[str, Choice],
    seed: int = 0,
    reference: References | None = None,
) -> dict[str, float]:
    """Rewards of one iteration, by the fixed choices and by every event's true outcome."""
    from thzsync.simulation.session import simulate_lookahead

    reference = reference or references_of(scenario, seed)
    fixed = FixedPerType(choices)
    return {
        "fixed": simulate(scenario, fixed, 1, seed, reference).summary["reward"],
        "lookahead": simulate_lookahead(scenario, seed, reference, fixed).summary["reward"],
    }
