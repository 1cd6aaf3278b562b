"""Directed bytes: point to point, All-to-All, and everything to or from one rack."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives.blocks import Blocks
from thzsync.collectives.collective import Collective
from thzsync.collectives.demand import Demand, Tensor, Transfer, split_bytes


def _pairs(demand: Demand, racks: IntArray) -> Blocks:
    """Precondition: i holds D_ij; postcondition: j holds it (eq:a2a_flow_set)."""
    assert isinstance(demand, Transfer)
    return Blocks.pairs(demand.src, demand.dst, demand.size_bytes)


def _parts(demand: Demand, racks: IntArray) -> tuple[IntArray, IntArray, int]:
    """The other racks, the bytes of each one's part, and the root; the root's part stays."""
    assert isinstance(demand, Tensor)
    assert demand.root is not None
    others = racks != demand.root
    return racks[others], split_bytes(demand.tensor_bytes, len(racks))[others], demand.root


def _gather(demand: Demand, racks: IntArray) -> Blocks:
    others, size_bytes, root = _parts(demand, racks)
    return Blocks.pairs(others, np.full(len(others), root), size_bytes)


def _scatter(demand: Demand, racks: IntArray) -> Blocks:
    others, size_bytes, root = _parts(demand, racks)
    return Blocks.pairs(np.full(len(others), root), others, size_bytes)


P2P: Final = Collective("p2p", "P2P", Transfer, _pairs, usual_bytes=16 * 2**20)
A2A: Final = Collective(
    "a2a", "All-to-All", Transfer, _pairs, keeps_part=True, usual_bytes=64 * 2**20
)
GATHER: Final = Collective("gather", "Gather", Tensor, _gather, rooted=True)
SCATTER: Final = Collective("scatter", "Scatter", Tensor, _scatter, rooted=True)
