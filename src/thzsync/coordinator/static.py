"""Policies that never learn: All-Wired, All-Wireless and a fixed ratio.

The paper's All-Wired uses the structures that were planned for THz: one tree per subband. Its
variant "best" uses those that suit the fibre. The variant of All-Wireless uses the mechanisms that
come nearest to the bound.
"""

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
    methods: tuple[tuple[str, str], ...] = ()
    """Synthesis methods of its own, by collective; see `own_scenario`."""

    def decide(self, situation: Situation) -> Action:
        """The fixed split, at the scenario's power level that is nearest to the fixed power."""
        levels = np.asarray(situation.power_levels, dtype=np.float64)
        level = float(levels[np.argmin(np.abs(levels - self.power))])
        return Action.uniform(situation.offer, self.thz_share, level)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


ALL_WIRED = StaticPolicy("all-wired", 0.0, 0.0)
ALL_WIRELESS = StaticPolicy("all-wireless", 1.0, 1.0)
FIBRE_METHODS = (("allreduce", "ring"), ("a2a", "sustained"), ("p2p", "proposed"))
THZ_METHODS = (("allreduce", "streamed"), ("a2a", "sustained"), ("p2p", "striped"))
ALL_WIRED_BEST = StaticPolicy("all-wired-best", 0.0, 0.0, FIBRE_METHODS)
ALL_WIRELESS_BEST = StaticPolicy("all-wireless-best", 1.0, 1.0, THZ_METHODS)
FIXED_RATIO = StaticPolicy("fixed-ratio", 0.5, 0.5)
STATIC = (FIXED_RATIO, ALL_WIRED, ALL_WIRELESS, ALL_WIRED_BEST, ALL_WIRELESS_BEST)
