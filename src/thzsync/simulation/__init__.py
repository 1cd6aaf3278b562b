"""The engine that joins the fabrics, the records it leaves and the auditor."""

from __future__ import annotations

from thzsync.simulation.records import Run
from thzsync.simulation.simulator import reference_costs, simulate

__all__ = ["Run", "reference_costs", "simulate"]
