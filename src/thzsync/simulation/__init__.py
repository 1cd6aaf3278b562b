"""Jobs and iterations on both carriers; decisions are yielded, not called back."""

from __future__ import annotations

from thzsync.records import Run
from thzsync.simulation.references import reference_costs
from thzsync.simulation.session import Session
from thzsync.simulation.simulator import simulate

__all__ = ["Run", "Session", "reference_costs", "simulate"]
