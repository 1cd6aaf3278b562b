"""A policy of your own against a built-in one.

Covers:

- what a policy sees (a `Situation`) and decides (an `Action`),
- learning from outcomes, which arrive later than the decision,
- a paired difference over seeds with its 95 % interval, and what may be said of it.
"""

from __future__ import annotations

import numpy as np

from thzsync import Scenario, simulate
from thzsync.coordinator import Action, Outcome, Situation
from thzsync.experiments.statistics import interval95

SHARES = (0.2, 0.4, 0.6)
SEEDS = range(3)


class BestShare:
    """Tries three shares per collective, then keeps the one with the highest mean reward."""

    name = "best-share"

    def __init__(self) -> None:
        self.rewards: dict[tuple[str, float], list[float]] = {}

    def decide(self, situation: Situation) -> Action:
        """The share that did best so far; one that was never tried goes first."""
        share = max(SHARES, key=lambda tried: self._score(situation.kind, tried))
        return Action.uniform(situation.offer, share, power=1.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """File the reward under the share that led to it."""
        chosen = action.thz_chunks.sum() / situation.offer.chunks.sum()
        share = min(SHARES, key=lambda tried: abs(tried - chosen))
        self.rewards.setdefault((situation.kind, share), []).append(outcome.reward)

    def _score(self, kind: str, share: float) -> float:
        seen = self.rewards.get((kind, share))
        return float(np.mean(seen)) if seen else np.inf


def main() -> None:
    """Compare in the same realisations and say no more than the interval allows."""
    tiny = Scenario.preset("tiny")
    saved_ms = [
        simulate(tiny, "fixed-ratio", iterations=3, seed=seed).summary["completion_ms"]
        - simulate(tiny, BestShare(), iterations=3, seed=seed).summary["completion_ms"]
        for seed in SEEDS
    ]
    mean, half = interval95(np.array(saved_ms))
    verdict = "too close to call" if abs(mean) <= half else "faster" if mean > 0 else "slower"
    print(f"best-share saves {mean:.2f} ± {half:.2f} ms against fixed-ratio: {verdict}")


if __name__ == "__main__":
    main()
