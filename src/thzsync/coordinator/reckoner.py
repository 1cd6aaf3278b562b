"""Reckoning that corrects itself: what actions should earn, by factors that outcomes measure.

An event lasts as long as the slower fabric. Each has a factor, measured over reckoned time, which
every punctual event that used it corrects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.estimate import Candidates, estimate
from thzsync.coordinator.interface import Action, Outcome, Situation

MEMORY: Final = 20
"""Outcomes over which a factor is averaged."""


@dataclass
class Factor:
    """Measured over reckoned time on one fabric."""

    value: float = 1.0
    seen: int = 0

    def learn(self, reckoned_s: float, measured_s: float) -> None:
        """Move towards what was measured; a fabric that carried nothing says nothing."""
        if reckoned_s > 0 and measured_s > 0:
            self.seen = min(self.seen + 1, MEMORY)
            self.value += (measured_s / reckoned_s - self.value) / self.seen


@dataclass
class Factors:
    """Of both fabrics, for one collective."""

    fibre: Factor
    air: Factor


class Reckoner:
    """Proposes actions, says what they should earn, and corrects itself."""

    def __init__(self, budgets: int) -> None:
        self.budgets = budgets
        self.factors: dict[str, Factors] = {}

    def candidates(self, situation: Situation) -> Candidates | None:
        """Actions worth a look; None where nothing can be split."""
        return estimate(situation).candidates(self.budgets) if situation.units else None

    def only(self, situation: Situation, action: Action) -> Candidates:
        """One action that was taken."""
        nearest = np.abs(situation.power_levels - action.power.max(initial=0.0)).argmin()
        counts, level = action.thz_chunks[None], np.array([nearest])
        return Candidates(counts, level, *estimate(situation).cost(counts, level))

    def rewards(self, situation: Situation, tried: Candidates) -> FloatArray:
        """What candidates should earn."""
        terms, factors = situation.terms, self._of(situation.kind)
        assert terms is not None
        time_s = np.maximum(factors.fibre.value * tried.fibre_s, factors.air.value * tried.air_s)
        return -(terms.per_s * time_s + terms.per_j * tried.energy_j)

    def learn(self, situation: Situation, taken: Candidates, outcome: Outcome) -> None:
        """Correct the factors, unless somebody was late."""
        if not situation.straggler.any():
            factors = self._of(situation.kind)
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
