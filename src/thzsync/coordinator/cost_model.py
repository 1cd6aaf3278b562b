"""A cost model that corrects itself: expected rewards of actions, by factors that outcomes measure.

An event lasts as long as the slower carrier. Each carrier has a factor, measured time over
estimated time, which every event without stragglers corrects. Even splits have separate factors if
the model proposes them: where flows wait for each other, as in trees, a split that fills the best
units first takes several times as long as estimated, and an even one does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.estimate import Candidates, estimate
from thzsync.coordinator.interface import Action, Outcome, Situation

EVEN: Final = ", even"
"""Suffix of a collective's name for the factors of even splits."""
PROMISING: Final = 32
"""Candidates that are kept where even splits are proposed, too."""
MEMORY: Final = 20
"""Outcomes over which a factor is averaged."""


@dataclass
class Factor:
    """Measured over estimated time on one carrier."""

    value: float = 1.0
    seen: int = 0

    def learn(self, estimated_s: float, measured_s: float) -> None:
        """Move towards the measured ratio, unless the carrier carried nothing."""
        if estimated_s > 0 and measured_s > 0:
            self.seen = min(self.seen + 1, MEMORY)
            self.value += (measured_s / estimated_s - self.value) / self.seen


@dataclass
class Factors:
    """Factors of both carriers, for one collective."""

    fibre: Factor = field(default_factory=Factor)
    air: Factor = field(default_factory=Factor)

    def time_s(self, tried: Candidates) -> FloatArray:
        """Expected completion times of candidates [s]."""
        return np.maximum(self.fibre.value * tried.fibre_s, self.air.value * tried.air_s)


class CostModel:
    """Proposes actions, estimates their rewards, and corrects itself."""

    def __init__(self, budgets: int, even_too: bool = False) -> None:
        self.budgets = budgets
        self.even_too = even_too
        """Whether it proposes even splits beside those that fill the best units first."""
        self.factors: defaultdict[str, Factors] = defaultdict(Factors)

    def candidates(self, situation: Situation) -> Candidates | None:
        """Promising actions; None where nothing can be split."""
        if not situation.units:
            return None
        tried = estimate(situation).candidates(self.budgets, self.even_too)
        if not self.even_too:
            return tried
        best = np.argsort(-self.rewards(situation, tried), kind="stable")
        return tried.take(best[:PROMISING])

    def only(self, situation: Situation, action: Action) -> Candidates:
        """One action that was taken."""
        nearest = np.abs(situation.power_levels - action.power.max(initial=0.0)).argmin()
        return estimate(situation).candidate(action.thz_chunks[None], np.array([nearest]))

    def rewards(self, situation: Situation, tried: Candidates) -> FloatArray:
        """Expected rewards of candidates."""
        terms = situation.terms
        assert terms is not None
        time_s = self.factors[situation.kind].time_s(tried)
        if self.even_too:
            evenly_s = self.factors[situation.kind + EVEN].time_s(tried)
            time_s = np.where(tried.even(situation.offer.chunks), evenly_s, time_s)
        return -(terms.per_s * time_s + terms.per_j * tried.energy_j)

    def learn(self, situation: Situation, taken: Candidates, outcome: Outcome) -> None:
        """Correct the factors, unless a source was a straggler."""
        if not situation.straggler.any():
            even = self.even_too and bool(taken.even(situation.offer.chunks)[0])
            factors = self.factors[situation.kind + EVEN * even]
            factors.fibre.learn(float(taken.fibre_s[0]), outcome.fibre_s)
            factors.air.learn(float(taken.air_s[0]), outcome.air_s)

    def progress(self) -> dict[str, Any]:
        """The factors as plain values."""
        return {kind: asdict(factors) for kind, factors in self.factors.items()}

    def restore(self, progress: Mapping[str, Any]) -> None:
        """Take over saved factors."""
        self.factors.clear()
        for kind, both in progress.items():
            self.factors[kind] = Factors(Factor(**both["fibre"]), Factor(**both["air"]))
