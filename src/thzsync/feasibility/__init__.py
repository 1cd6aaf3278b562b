"""Whether a scenario can be run here, and the names it may use."""

from __future__ import annotations

from thzsync.feasibility.check import check_collective, check_scenario
from thzsync.feasibility.effort import effort_of, forewarning
from thzsync.feasibility.names import known_names

__all__ = ["check_collective", "check_scenario", "effort_of", "forewarning", "known_names"]
