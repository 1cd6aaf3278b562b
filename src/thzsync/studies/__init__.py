"""Sweeps: plan, run on processes or a cluster, resume, and one tidy table."""

from __future__ import annotations

from thzsync.studies.result import Sweep
from thzsync.studies.specification import Specification
from thzsync.studies.sweeping import break_even, sweep

__all__ = ["Specification", "Sweep", "break_even", "sweep"]
