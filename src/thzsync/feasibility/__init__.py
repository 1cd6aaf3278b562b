"""Whether a scenario can be run here, and the names it may use."""

from __future__ import annotations

from thzsync.feasibility.check import check_collective, check_scenario
from thzsync.feasibility.effort import Asked, Effort, effort_of
from thzsync.feasibility.names import known_names
from thzsync.feasibility.room import check_memory, scarce_disk

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
