"""What a collective means: demand, flows, chunks, pre- and postcondition."""

from __future__ import annotations

from thzsync.collectives.demand import Demand, Kind, Reduction, Transfer, split_bytes
from thzsync.collectives.plan import Plan
from thzsync.collectives.schedule import Schedule

__all__ = ["Demand", "Kind", "Plan", "Reduction", "Schedule", "Transfer", "split_bytes"]
