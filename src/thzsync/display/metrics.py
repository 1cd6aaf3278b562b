"""What policies are judged by: names, units, digits and which end is better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal


@dataclass(frozen=True)
class Metric:
    """One column of the iterations that reports show."""

    key: str
    title: str
    short: str
    """Its name where room is scarce."""
    unit: str
    digits: int
    better: Literal["low", "high", ""]
    """Nothing where neither end is better."""
    scale: float = 1.0
    """What takes the column to the unit."""

    def described(self) -> dict[str, Any]:
        """What the page's scripts know of it."""
        return {"key": self.key, "title": self.title, "unit": self.unit, "better": self.better}


MAKESPAN: Final = Metric("makespan_ms", "Iteration time", "Iteration", "ms", 4, "low")
EXPOSED: Final = Metric("exposed_ms", "Exposed communication", "Exposed", "ms", 4, "low")
COMPLETION: Final = Metric("completion_ms", "Completion time", "Completion", "ms", 4, "low")
ENERGY: Final = Metric("energy_j", "Transmission energy", "Transmission", "J", 4, "low")
WALL: Final = Metric("wall_energy_j", "Energy at the wall plug", "Wall plug", "J", 4, "low")
STATIC: Final = Metric("static_energy_j", "Static energy", "Static", "J", 4, "low")
TOTAL: Final = Metric(
    "total_energy_j", "Energy at the wall plug and static", "Wall plug + static", "J", 4, "low"
)
REWARD: Final = Metric("reward", "Reward", "Reward", "", 3, "high")
THZ_SHARE: Final = Metric("thz_share", "Share of bytes on THz", "on THz", "%", 3, "", 100.0)
METRICS: Final = (COMPLETION, ENERGY, REWARD)
"""What the paper publishes of every policy."""
SWEPT: Final = (MAKESPAN, EXPOSED, COMPLETION, ENERGY, REWARD, THZ_SHARE)
"""What a sweep shows, each of which can have crossovers."""
MORE_ENERGY: Final = (WALL, STATIC, TOTAL)
"""Shown where they differ from transmission energy."""
ALL_SWEPT: Final = (*SWEPT, *MORE_ENERGY)
"""What a sweep can show."""
COUNTED: Final = {"transmission": ENERGY, "wall-plug": WALL, "with-static": TOTAL}
"""Which energy a reward counts, by ``reward.energy``."""


def more_energy(rows: Iterable[Mapping[str, Any]]) -> tuple[Metric, ...]:
    """Wall plug and static if some row has another energy than transmission; else nothing."""
    differs = any(
        row.get(STATIC.key) or (WALL.key in row and row[WALL.key] != row[ENERGY.key])
        for row in rows
    )
    return (WALL, STATIC) if differs else ()
