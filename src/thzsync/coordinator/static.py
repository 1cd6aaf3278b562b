"""Policies that never learn: All-Wired, All-Wireless and a fixed ratio."""

from __future__ import annotations

from dataclasses import dataclass

from thzsync.coordinator.interface import Action, Outcome, Situation


@dataclass(frozen=True)
class StaticPolicy:
    """The same share of THz chunks and the same power for every flow of every event."""

    name: str
    thz_share: float
    power: float

    def decide(self, situation: Situation) -> Action:
        """The fixed split."""
        return Action.uniform(situation.offer, self.thz_share, self.power)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


ALL_WIRED = StaticPolicy("all-wired", 0.0, 0.0)
ALL_WIRELESS = StaticPolicy("all-wireless", 1.0, 1.0)
FIXED_RATIO = StaticPolicy("fixed-ratio", 0.5, 0.5)
