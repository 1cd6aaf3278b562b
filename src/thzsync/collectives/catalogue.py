"""The collectives that come with the package."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives.blocks import Blocks
from thzsync.collectives.collective import Collective
from thzsync.collectives.demand import Demand, Tensor, Transfer, split_bytes

TOKEN_BYTES: Final = 64
"""Least size of what a barrier sends [bytes]."""


def _pairs(demand: Demand, racks: IntArray) -> Blocks:
    """Precondition: i holds D_ij; postcondition: j holds it (eq:a2a_flow_set)."""
    assert isinstance(demand, Transfer)
    return Blocks.pairs(demand.src, demand.dst, demand.size_bytes)


def _size(demand: Demand) -> int:
    assert isinstance(demand, Tensor)
    return demand.tensor_bytes


def _root(demand: Demand) -> list[int]:
    assert isinstance(demand, Tensor)
    assert demand.root is not None
    return [demand.root]


def _all_reduce(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_size(demand), racks, racks)])


def _reduce(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_size(demand), racks, _root(demand))])


def _broadcast(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_size(demand), _root(demand), racks)])


def _reduce_scatter(demand: Demand, racks: IntArray) -> Blocks:
    """Every rack ends with the sum of its own part."""
    parts = split_bytes(_size(demand), len(racks)).tolist()
    return Blocks.of((size, racks, [int(r)]) for size, r in zip(parts, racks, strict=True))


def _all_gather(demand: Demand, racks: IntArray) -> Blocks:
    """Every rack ends with the parts of all racks."""
    parts = split_bytes(_size(demand), len(racks)).tolist()
    return Blocks.of((size, [int(r)], racks) for size, r in zip(parts, racks, strict=True))


def _barrier(demand: Demand, racks: IntArray) -> Blocks:
    """A token from all racks to all, so that no rack ends before every rack has begun."""
    return Blocks.of([(max(TOKEN_BYTES, _size(demand)), racks, racks)])


def _gather(demand: Demand, racks: IntArray) -> Blocks:
    """Every other rack sends its part to the root; the root's part stays."""
    others = racks != _root(demand)
    size_bytes = split_bytes(_size(demand), len(racks))[others]
    return Blocks.pairs(racks[others], np.full(len(size_bytes), _root(demand)), size_bytes)


def _scatter(demand: Demand, racks: IntArray) -> Blocks:
    parts = _gather(demand, racks)
    return Blocks.pairs(parts.target, parts.source, parts.size_bytes)


BUILT_IN: Final = (
    Collective("p2p", "P2P", Transfer, _pairs, usual_bytes=16 * 2**20),
    Collective("a2a", "All-to-All", Transfer, _pairs, keeps_part=True, usual_bytes=64 * 2**20),
    Collective("allreduce", "AllReduce", Tensor, _all_reduce),
    Collective("all-gather", "All-gather", Tensor, _all_gather),
    Collective("reduce-scatter", "Reduce-scatter", Tensor, _reduce_scatter),
    Collective("broadcast", "Broadcast", Tensor, _broadcast, rooted=True),
    Collective("reduce", "Reduce", Tensor, _reduce, rooted=True),
    Collective("gather", "Gather", Tensor, _gather, rooted=True),
    Collective("scatter", "Scatter", Tensor, _scatter, rooted=True),
    Collective("barrier", "Barrier", Tensor, _barrier, usual_bytes=TOKEN_BYTES),
)
