"""Plans from rows of flows: the one place that lays out precedence as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Kind, Plan, Reduction, Transfer
from thzsync.errors import ThzSyncError


@dataclass(frozen=True)
class Flow:
    """One flow of a plan, before the rows become arrays."""

    src: int
    dst: int
    size_bytes: int
    after: tuple[int, ...] = ()
    local: bool = True
    shard: int = 0
    reduces: bool = False
    stage: int = 0


def reduction_plan(
    demand: Reduction, racks: IntArray, chunk_bytes: int, flows: Sequence[Flow]
) -> Plan:
    """An AllReduce plan from its flows; every flow's THz part travels as one transmission."""
    counts = [len(flow.after) for flow in flows]
    return Plan(
        kind=Kind.ALLREDUCE,
        method="",
        racks=racks,
        demand=demand,
        src=_column([flow.src for flow in flows]),
        dst=_column([flow.dst for flow in flows]),
        flow_bytes=_column([flow.size_bytes for flow in flows]),
        chunk_bytes=chunk_bytes,
        after_start=np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64),
        after=_column([f for flow in flows for f in flow.after]),
        local=np.array([flow.local for flow in flows], dtype=np.bool_),
        shard=_column([flow.shard for flow in flows]),
        reduces=np.array([flow.reduces for flow in flows], dtype=np.bool_),
        bundled=True,
        stage=_column([flow.stage for flow in flows]),
    )


def transfer_plan(kind: Kind, demand: Transfer, racks: IntArray, chunk_bytes: int) -> Plan:
    """One flow per positive demand, all of it local data (eq:a2a_flow_set)."""
    demand.check(f"{kind} demand")
    unknown = ~(np.isin(demand.src, racks) & np.isin(demand.dst, racks))
    if unknown.any():
        k = int(np.flatnonzero(unknown)[0])
        raise ThzSyncError(
            f"{kind} demand {k}: rack {demand.src[k]} -> rack {demand.dst[k]} is not among the "
            f"event's racks; add the rack or remove the transfer"
        )
    wanted = demand.size_bytes > 0
    flows = int(wanted.sum())
    none = np.zeros(flows, dtype=np.int64)
    return Plan(
        kind=kind,
        method="",
        racks=racks,
        demand=demand,
        src=demand.src[wanted],
        dst=demand.dst[wanted],
        flow_bytes=demand.size_bytes[wanted],
        chunk_bytes=chunk_bytes,
        after_start=np.zeros(flows + 1, dtype=np.int64),
        after=np.zeros(0, dtype=np.int64),
        local=np.ones(flows, dtype=np.bool_),
        shard=none,
        reduces=np.zeros(flows, dtype=np.bool_),
        bundled=False,
        stage=none.copy(),
    )


def as_transfer(demand: Demand, kind: Kind) -> Transfer:
    """The demand of a P2P or All-to-All event, or an error that says what was given."""
    if not isinstance(demand, Transfer):
        raise ThzSyncError(f"{kind}: found a reduction; give a Transfer (src, dst, bytes)")
    return demand


def as_reduction(demand: Demand) -> Reduction:
    """The demand of an AllReduce event, or an error that says what was given."""
    if not isinstance(demand, Reduction):
        raise ThzSyncError("allreduce: found directed transfers; give a Reduction (tensor bytes)")
    demand.check("allreduce demand")
    return demand


def _column(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
