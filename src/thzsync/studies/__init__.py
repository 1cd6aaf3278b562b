"""Sweeps: plan, run on processes or a cluster, resume, and one tidy table."""

from __future__ import annotations

from thzsync.studies.result import Sweep
from thzsync.studies.specification import Specification
from thzsync.studies.sweeping import sweep

__all__ = ["Specification", "Sweep", "sweep"]
