"""What a collective means: its demand, and which rack has which data before and after it."""

from __future__ import annotations

from thzsync.collectives.blocks import Blocks
from thzsync.collectives.collective import (
    Collective,
    collective_names,
    find_collective,
    register_collective,
)
from thzsync.collectives.demand import Demand, Tensor, Transfer, split_bytes

__all__ = [
    "Blocks",
    "Collective",
    "Demand",
    "Tensor",
    "Transfer",
    "collective_names",
    "find_collective",
    "register_collective",
    "split_bytes",
]
