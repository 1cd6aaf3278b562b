"""What a method offers to be split, before anybody has decided, and how a split is lowered.

A policy sees *units*: each can send 0..K of its chunks over THz. The paper's methods have one unit
per flow. A method with different structures on the two fabrics may have one per shard or one for
the whole tensor; its ``lower`` then turns the decided chunks into the flows of both structures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.transfers import TransferGraph

Lower = Callable[[IntArray], TransferGraph]
"""THz chunks per unit -> the transfer graph."""


@dataclass(frozen=True, eq=False)
class Offer:
    """Units that can be split, the links that tell about each, and who shares a power budget."""

    kind: str
    """Name of the collective."""
    racks: IntArray
    """Participating racks V_e, ascending."""
    chunks: IntArray
    """K_u: chunks of every unit."""
    link_start: IntArray
    """Row starts of the links of every unit (one more entry)."""
    link_src: IntArray
    link_dst: IntArray
    """Links by which a policy may judge a unit: those that its THz chunks would use."""
    group: IntArray
    """Power group of every unit: racks of one group get one budget."""
    rack_group: IntArray
    """Group of every rack by position in ``racks``; -1 for a rack that never sends."""
    lower: Lower
    per_unit: bool = False
    """Whether every unit is one flow, the same on either fabric."""

    @staticmethod
    def per_flow(graph: TransferGraph) -> Offer:
        """One unit per flow; every sender is a power group of its own."""
        senders = np.unique(graph.src)
        rack_group = np.full(len(graph.racks), -1, dtype=np.int64)
        rack_group[np.searchsorted(graph.racks, senders)] = np.arange(len(senders))
        return Offer(
            kind=graph.kind,
            racks=graph.racks,
            chunks=graph.chunks,
            link_start=np.arange(graph.flows + 1, dtype=np.int64),
            link_src=graph.src,
            link_dst=graph.dst,
            group=np.searchsorted(senders, graph.src),
            rack_group=rack_group,
            lower=graph.split,
            per_unit=True,
        )

    @staticmethod
    def whole(
        kind: str, racks: IntArray, chunks: int, src: IntArray, dst: IntArray, lower: Lower
    ) -> Offer:
        """One unit for everything, judged by these links; all racks share one budget."""
        units = 1 if chunks else 0
        return Offer(
            kind=kind,
            racks=racks,
            chunks=np.full(units, chunks, dtype=np.int64),
            link_start=np.array([0, len(src)][: units + 1], dtype=np.int64),
            link_src=src[: units * len(src)],
            link_dst=dst[: units * len(dst)],
            group=np.zeros(units, dtype=np.int64),
            rack_group=np.full(len(racks), units - 1, dtype=np.int64),
            lower=lower,
        )

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.chunks)

    @cached_property
    def groups(self) -> int:
        """Number of power groups."""
        return int(self.rack_group.max(initial=-1)) + 1

    @cached_property
    def src(self) -> IntArray:
        """Source of every unit's first link."""
        return self.link_src[self.link_start[:-1]]

    @cached_property
    def dst(self) -> IntArray:
        """Destination of every unit's first link."""
        return self.link_dst[self.link_start[:-1]]

    def sending(self, thz_chunks: IntArray) -> BoolArray:
        """Racks, by position, that send over THz under a split: those of groups with THz chunks."""
        active = np.zeros(self.groups + 1, dtype=np.bool_)  # the last one stands for group -1
        active[self.group[np.asarray(thz_chunks) > 0]] = True
        return active[self.rack_group]
