"""Transfers without precedence, free or in permutations.

A permutation is one configuration of the overlay: every rack has one link out and one link in,
each on a subband of its own, and the links are held until all of its transfers are complete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand
from thzsync.synthesis.method import Setting
from thzsync.transfers import TransferGraph, direct_graph


@dataclass(frozen=True)
class FreeTransfers:
    """Every chunk may go as soon as its source has it: no predetermined permutation."""

    collective: str

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One flow per block."""
        return direct_graph(self.collective, demand, racks, chunk_bytes, "matching")


class Rotation:
    """Free transfers of an All-to-All, each rack's in the order of a rotation: i + 1, i + 2, ...

    On fibre a rack's flows take turns packet by packet in this order. So at any time every rack
    sends to another one; if all began with rack 0, its queue at the switch would hold them up.
    """

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One flow per pair."""
        free = direct_graph("a2a", demand, racks, chunk_bytes, "matching")
        src, dst = np.searchsorted(racks, free.src), np.searchsorted(racks, free.dst)
        order = np.lexsort((src, (dst - src) % len(racks)))
        return replace(
            free,
            src=free.src[order],
            dst=free.dst[order],
            flow_bytes=free.flow_bytes[order],
            block=free.block[order],
        )


class DemandSorted:
    """One-to-one permutations, greatest remaining demands first, each completed before the next.

    A permutation completes its pairs' demands, so what remains are the pairs not yet chosen.
    """

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One barrier stage per permutation."""
        held = direct_graph("a2a", demand, racks, chunk_bytes, "assignment", bundled=True)
        return replace(held, stage=_permutations(held))


class Cyclic:
    """Offset 1, 2, ...: rack i serves rack i + offset; an offset completes before the next."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One barrier stage per cyclic offset."""
        held = direct_graph("a2a", demand, racks, chunk_bytes, "assignment", bundled=True)
        src, dst = np.searchsorted(racks, held.src), np.searchsorted(racks, held.dst)
        return replace(held, stage=(dst - src) % len(racks) - 1)


def _permutations(plan: TransferGraph) -> IntArray:
    stage = np.zeros(plan.flows, dtype=np.int64)
    remaining = np.argsort(-plan.flow_bytes, kind="stable").tolist()
    number = 0
    while remaining:
        sending: set[int] = set()
        receiving: set[int] = set()
        later = []
        for flow in remaining:
            src, dst = int(plan.src[flow]), int(plan.dst[flow])
            if src in sending or dst in receiving:
                later.append(flow)
                continue
            sending.add(src)
            receiving.add(dst)
            stage[flow] = number
        remaining = later
        number += 1
    return stage
