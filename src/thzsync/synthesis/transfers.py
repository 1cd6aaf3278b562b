"""P2P and All-to-All: transfers without precedence, free or in permutations.

A permutation is one configuration of the overlay: every rack has one link out and one link in,
each on a subband of its own, and the links are held until all of its transfers are complete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Kind, Plan
from thzsync.synthesis.flows import as_transfer, transfer_plan
from thzsync.synthesis.method import Context


@dataclass(frozen=True)
class FreeTransfers:
    """Every chunk may go as soon as its source has it: no predetermined permutation."""

    kind: Kind

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """One flow per positive demand."""
        del context
        return transfer_plan(self.kind, as_transfer(demand, self.kind), racks, chunk_bytes)


class DemandSorted:
    """One-to-one permutations, greatest remaining demands first, each completed before the next.

    A permutation completes its pairs' demands, so what remains are the pairs not yet chosen.
    """

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """One barrier stage per permutation."""
        free = FreeTransfers(Kind.A2A).plan(demand, racks, chunk_bytes, context)
        return replace(free, bundled=True, stage=_permutations(free))


class Cyclic:
    """Offset 1, 2, ...: rack i serves rack i + offset; an offset completes before the next."""

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """One barrier stage per cyclic offset."""
        free = FreeTransfers(Kind.A2A).plan(demand, racks, chunk_bytes, context)
        src, dst = np.searchsorted(racks, free.src), np.searchsorted(racks, free.dst)
        return replace(free, bundled=True, stage=(dst - src) % len(racks) - 1)


def _permutations(plan: Plan) -> IntArray:
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
