"""Whether a scenario can be run here, and the names it may use."""

from __future__ import annotations

from thzsync.feasibility.check import check_collective, check_scenario, known_names
from thzsync.feasibility.effort import Asked, Effort, check_memory, effort_of, scarce_disk

__all__ = [
    "Asked",
    "Effort",
    "check_collective",
    "check_memory",
    "check_scenario",
    "effort_of",
    "known_names",
    "scarce_disk",
]
