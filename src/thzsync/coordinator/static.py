"""Policies that never learn: All-Wired, All-Wireless and a fixed ratio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.coordinator.interface import Action, Outcome, Situation


@dataclass(frozen=True)
class StaticPolicy:
    """The same share of THz chunks and the same power for every flow of every event."""

    name: str
    thz_share: float
    power: float

    def decide(self, situation: Situation) -> Action:
        """The fixed split, at the level nearest to the fixed power that the scenario offers."""
        levels = np.asarray(situation.power_levels, dtype=np.float64)
        level = float(levels[np.argmin(np.abs(levels - self.power))])
        return Action.uniform(situation.offer, self.thz_share, level)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


ALL_WIRED = StaticPolicy("all-wired", 0.0, 0.0)
ALL_WIRELESS = StaticPolicy("all-wireless", 1.0, 1.0)
FIXED_RATIO = StaticPolicy("fixed-ratio", 0.5, 0.5)
