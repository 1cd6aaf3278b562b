"""What policies are judged by: names, units, digits and which end is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Metric:
    """One column of the iterations that reports show."""

    key: str
    title: str
    short: str
    """Its name where room is scarce."""
    unit: str
    digits: int
    better: Literal["low", "high"]


COMPLETION: Final = Metric("completion_ms", "Completion time", "Completion", "ms", 4, "low")
ENERGY: Final = Metric("energy_j", "Energy", "Energy", "J", 4, "low")
REWARD: Final = Metric("reward", "Reward", "Reward", "", 3, "high")
METRICS: Final = (COMPLETION, ENERGY, REWARD)
