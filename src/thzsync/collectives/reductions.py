"""One tensor among all: reduced, spread, or both."""

from __future__ import annotations

from typing import Final

from thzsync.arrays import IntArray
from thzsync.collectives.blocks import Blocks
from thzsync.collectives.collective import Collective
from thzsync.collectives.demand import Demand, Tensor, split_bytes

TOKEN_BYTES: Final = 64
"""What a barrier sends at least, in place of data [bytes]."""


def _tensor(demand: Demand) -> Tensor:
    assert isinstance(demand, Tensor)
    return demand


def _root(demand: Demand) -> list[int]:
    root = _tensor(demand).root
    assert root is not None
    return [root]


def _all_reduce(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_tensor(demand).tensor_bytes, racks, racks)])


def _reduce(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_tensor(demand).tensor_bytes, racks, _root(demand))])


def _broadcast(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(_tensor(demand).tensor_bytes, _root(demand), racks)])


def _reduce_scatter(demand: Demand, racks: IntArray) -> Blocks:
    """Every rack ends with the sum of its own part."""
    parts = split_bytes(_tensor(demand).tensor_bytes, len(racks)).tolist()
    return Blocks.of((size, racks, [int(r)]) for size, r in zip(parts, racks, strict=True))


def _all_gather(demand: Demand, racks: IntArray) -> Blocks:
    """Every rack ends with everybody's part."""
    parts = split_bytes(_tensor(demand).tensor_bytes, len(racks)).tolist()
    return Blocks.of((size, [int(r)], racks) for size, r in zip(parts, racks, strict=True))


def _barrier(demand: Demand, racks: IntArray) -> Blocks:
    """Nobody is told before everybody has been heard: a token from all to all."""
    return Blocks.of([(max(TOKEN_BYTES, _tensor(demand).tensor_bytes), racks, racks)])


ALLREDUCE: Final = Collective("allreduce", "AllReduce", Tensor, _all_reduce)
REDUCE: Final = Collective("reduce", "Reduce", Tensor, _reduce, rooted=True)
BROADCAST: Final = Collective("broadcast", "Broadcast", Tensor, _broadcast, rooted=True)
REDUCE_SCATTER: Final = Collective("reduce-scatter", "Reduce-scatter", Tensor, _reduce_scatter)
ALL_GATHER: Final = Collective("all-gather", "All-gather", Tensor, _all_gather)
BARRIER: Final = Collective("barrier", "Barrier", Tensor, _barrier, usual_bytes=TOKEN_BYTES)
