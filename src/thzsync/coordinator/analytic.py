"""A coordinator without a network: it reckons every action and measures how far it is off.

An event lasts as long as the slower fabric. Each has a factor, measured over reckoned time, which
every event that used it corrects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.estimate import Candidates, estimate
from thzsync.coordinator.interface import Action, Outcome, Situation

MEMORY: Final = 20
"""Outcomes over which a factor is averaged."""


@dataclass
class Factors:
    """Measured over reckoned time, by fabric."""

    fibre: float = 1.0
    air: float = 1.0
    seen_fibre: int = 0
    seen_air: int = 0

    def time_s(self, fibre_s: FloatArray, air_s: FloatArray) -> FloatArray:
        """How long an event lasts [s]."""
        return np.maximum(self.fibre * fibre_s, self.air * air_s)

    def learn(self, reckoned_s: tuple[float, float], measured_s: tuple[float, float]) -> None:
        """Correct both factors by what fibre and THz took [s]."""
        if reckoned_s[0] > 0 and measured_s[0] > 0:
            self.seen_fibre = min(self.seen_fibre + 1, MEMORY)
            self.fibre += (measured_s[0] / reckoned_s[0] - self.fibre) / self.seen_fibre
        if reckoned_s[1] > 0 and measured_s[1] > 0:
            self.seen_air = min(self.seen_air + 1, MEMORY)
            self.air += (measured_s[1] / reckoned_s[1] - self.air) / self.seen_air


class Analytic:
    """Takes the action that should cost least."""

    name = "analytic"

    def __init__(self, budgets: int) -> None:
        self.budgets = budgets
        self.factors: dict[str, Factors] = {}

    def decide(self, situation: Situation) -> Action:
        """The best of the candidates, by the factors so far."""
        offer = situation.offer
        if offer.units == 0:
            return Action.of(offer, np.zeros(0, dtype=np.int64), np.zeros(len(offer.racks)))
        tried = estimate(situation).candidates(self.budgets)
        best = int(np.argmax(self.reward(situation, tried)))
        power = np.full(len(offer.racks), situation.power_levels[tried.level[best]])
        return Action.of(offer, tried.counts[best], power)

    def reward(self, situation: Situation, tried: Candidates) -> FloatArray:
        """What candidates should earn."""
        terms = situation.terms
        assert terms is not None
        time_s = self._of(situation).time_s(tried.fibre_s, tried.air_s)
        return -(terms.per_s * time_s + terms.per_j * tried.energy_j)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Correct a factor, unless somebody was late."""
        if situation.units == 0 or situation.straggler.any():
            return
        level = np.array([_level(situation, action)])
        fibre_s, air_s, _ = estimate(situation).cost(action.thz_chunks[None], level)
        measured_s = (outcome.fibre_s, outcome.air_s)
        self._of(situation).learn((float(fibre_s[0]), float(air_s[0])), measured_s)

    def _of(self, situation: Situation) -> Factors:
        return self.factors.setdefault(situation.kind, Factors())


def _level(situation: Situation, action: Action) -> int:
    return int(np.argmin(np.abs(situation.power_levels - action.power.max(initial=0.0))))
