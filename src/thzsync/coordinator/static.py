"""Policies that never learn: All-Wired, All-Wireless and a fixed ratio.

The paper's All-Wired sends over fibre what was planned for THz: one tree per subband. Its "best"
twin takes the structures that suit the fibre and knows nothing of THz; that of All-Wireless takes
the mechanisms that come nearest to the bound.
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
    """Synthesis methods that it brings along, by collective; see `own_scenario`."""

    def decide(self, situation: Situation) -> Action:
        """The fixed split, at the level nearest to the fixed power that the scenario offers."""
        levels = np.asarray(situation.power_levels, dtype=np.float64)
        level = float(levels[np.argmin(np.abs(levels - self.power))])
        return Action.uniform(situation.offer, self.thz_share, level)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


ALL_WIRED = StaticPolicy("all-wired", 0.0, 0.0)
ALL_WIRELESS = StaticPolicy("all-wireless", 1.0, 1.0)
ALL_WIRED_BEST = StaticPolicy(
    "all-wired-best",
    0.0,
    0.0,
    (("allreduce", "ring"), ("a2a", "proposed"), ("p2p", "proposed")),
)
ALL_WIRELESS_BEST = StaticPolicy(
    "all-wireless-best",
    1.0,
    1.0,
    (("allreduce", "streamed"), ("a2a", "sustained"), ("p2p", "striped")),
)
FIXED_RATIO = StaticPolicy("fixed-ratio", 0.5, 0.5)
