"""A cost model that corrects itself: what actions should earn, by factors that outcomes measure.

An event lasts as long as the slower carrier. Each carrier has a factor, measured over estimated
time, which every event without stragglers corrects. A model that also proposes even splits keeps
separate factors for them: where flows wait for each other, as in trees, a split that fills the
best units first takes several times as long as estimated, and an even one does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.estimate import Candidates, estimate
from thzsync.coordinator.interface import Action, Outcome, Situation

EVEN: Final = ", even"
"""What the factors of even splits are called, after the collective."""
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
        """Move towards what was measured; a carrier that carried nothing says nothing."""
        if estimated_s > 0 and measured_s > 0:
            self.seen = min(self.seen + 1, MEMORY)
            self.value += (measured_s / estimated_s - self.value) / self.seen


@dataclass
class Factors:
    """Of both carriers, for one collective."""

    fibre: Factor
    air: Factor


class CostModel:
    """Proposes actions, says what they should earn, and corrects itself."""

    def __init__(self, budgets: int, even_too: bool = False) -> None:
        self.budgets = budgets
        self.even_too = even_too
        """Whether it proposes even splits beside those that fill the best units first."""
        self.factors: dict[str, Factors] = {}

    def candidates(self, situation: Situation) -> Candidates | None:
        """Actions worth a look; None where nothing can be split."""
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
        counts, level = action.thz_chunks[None], np.array([nearest])
        return Candidates(counts, level, *estimate(situation).cost(counts, level))

    def rewards(self, situation: Situation, tried: Candidates) -> FloatArray:
        """What candidates should earn."""
        terms = situation.terms
        assert terms is not None
        time_s = self._time_s(self._of(situation.kind), tried)
        if self.even_too:
            evenly_s = self._time_s(self._of(situation.kind + EVEN), tried)
            time_s = np.where(tried.even(situation.offer.chunks), evenly_s, time_s)
        return -(terms.per_s * time_s + terms.per_j * tried.energy_j)

    @staticmethod
    def _time_s(factors: Factors, tried: Candidates) -> FloatArray:
        return np.maximum(factors.fibre.value * tried.fibre_s, factors.air.value * tried.air_s)

    def learn(self, situation: Situation, taken: Candidates, outcome: Outcome) -> None:
        """Correct the factors, unless a source was a straggler."""
        if not situation.straggler.any():
            even = self.even_too and bool(taken.even(situation.offer.chunks)[0])
            factors = self._of(situation.kind + EVEN * even)
            factors.fibre.learn(float(taken.fibre_s[0]), outcome.fibre_s)
            factors.air.learn(float(taken.air_s[0]), outcome.air_s)

    def progress(self) -> dict[str, Any]:
        """The factors as plain values."""
        return {kind: asdict(factors) for kind, factors in self.factors.items()}

    def restore(self, progress: Mapping[str, Any]) -> None:
        """Take over saved factors."""
        self.factors = {
            kind: Factors(Factor(**both["fibre"]), Factor(**both["air"]))
            for kind, both in progress.items()
        }

    def _of(self, kind: str) -> Factors:
        if kind not in self.factors:
            self.factors[kind] = Factors(Factor(), Factor())
        return self.factors[kind]
