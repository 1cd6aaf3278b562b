"""Whether a scenario can be run here, and the names it may use."""

from __future__ import annotations

from thzsync.feasibility.check import check_collective, check_scenario
from thzsync.feasibility.effort import Effort, effort_of
from thzsync.feasibility.names import known_names

__all__ = [
    "Effort",
    "check_collective",
    "check_scenario",
    "effort_of",
    "known_names",
]
