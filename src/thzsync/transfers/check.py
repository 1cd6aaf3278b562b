"""Is a transfer graph right, and did a schedule carry it out within the rules?

Both raise a ThzSyncError that names the first broken fact. They judge the written rules afresh
(the rate is computed here again, eq:thz_rate) so that they share no mistake with the executor.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.ordering import topological_order
from thzsync.scenario import Thz
from thzsync.transfers import semantics
from thzsync.transfers.airtime import check_airtime
from thzsync.transfers.delivery import check_delivery, check_times, refuse_plan
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.schedule import Schedule


def check_plan(plan: TransferGraph) -> None:
    """Refuse a graph that does not turn the collective's precondition into its postcondition.

    Holds for every order that the precedence allows: complete delivery, every part of every block
    in the result exactly once, no cycle, no race between what leaves and what arrives.
    """
    _check_columns(plan)
    _check_precedence(plan)
    order = topological_order(plan.after_start, plan.after)
    if len(order) < plan.flows:
        stuck = np.setdiff1d(np.arange(plan.flows), order)
        refuse_plan(plan, f"flows {stuck[:5].tolist()} wait for each other; remove the cycle")
    _check_shards(plan)
    _check_semantics(plan, order)


def check_schedule(schedule: Schedule, thz: Thz, budget_w: FloatArray | None = None) -> None:
    """Refuse a schedule that breaks its graph or a rule of the air.

    The graph says which chunks belong to THz; ``budget_w`` limits each rack's power further, by
    position in ``plan.racks`` [W].
    """
    check_plan(schedule.plan)
    departure_ps, arrival_ps = check_delivery(schedule)
    check_times(schedule, departure_ps, arrival_ps)
    check_airtime(schedule, thz, budget_w)


def _check_columns(plan: TransferGraph) -> None:
    flows = plan.flows
    columns = (
        plan.dst, plan.flow_bytes, plan.local, plan.block, plan.shard, plan.reduces, plan.stage,
        plan.thz_chunks, plan.discipline, plan.bundled,
    )  # fmt: skip
    if any(len(column) != flows for column in columns) or len(plan.after_start) != flows + 1:
        refuse_plan(plan, "all columns must have one entry per flow")
    if (np.diff(plan.racks) <= 0).any():
        refuse_plan(plan, f"racks {plan.racks.tolist()} must be ascending, each named once")
    for f in np.flatnonzero(~np.isin(plan.src, plan.racks) | ~np.isin(plan.dst, plan.racks))[:1]:
        refuse_plan(plan, f"flow {f} ({plan.src[f]}->{plan.dst[f]}) leaves the racks of the event")
    for f in np.flatnonzero(plan.src == plan.dst)[:1]:
        refuse_plan(plan, f"flow {f} leads from rack {plan.src[f]} to itself")
    if plan.chunk_bytes <= 0 or (plan.flow_bytes <= 0).any():
        refuse_plan(plan, "flows and chunks must have at least one byte")
    for f in np.flatnonzero((plan.thz_chunks < 0) | (plan.thz_chunks > plan.chunks))[:1]:
        refuse_plan(plan, f"flow {f} has {plan.thz_chunks[f]} of {plan.chunks[f]} chunks on THz")
    if flows and not 0 <= plan.discipline.min() <= plan.discipline.max() < len(plan.disciplines):
        refuse_plan(plan, "a flow names a discipline that the graph does not list")


def _check_precedence(plan: TransferGraph) -> None:
    after, waits = plan.after, np.diff(plan.after_start)
    if plan.after_start[0] != 0 or (waits < 0).any() or plan.after_start[-1] != len(after):
        refuse_plan(plan, "after_start must rise from 0 to the length of after")
    if len(after) and not 0 <= int(after.min()) <= int(after.max()) < plan.flows:
        refuse_plan(plan, f"after names a flow outside 0..{plan.flows - 1}")
    flow = np.repeat(np.arange(plan.flows), waits)
    for e in np.flatnonzero(plan.dst[after] != plan.src[flow])[:1]:
        refuse_plan(
            plan,
            f"flow {flow[e]} leaves rack {plan.src[flow[e]]} but waits for flow {after[e]}, "
            f"which ends at rack {plan.dst[after[e]]}",
        )
    for e in np.flatnonzero(plan.chunks[after] != plan.chunks[flow])[:1]:
        refuse_plan(
            plan,
            f"flow {flow[e]} has {plan.chunks[flow[e]]} chunks but waits for flow {after[e]} "
            f"with {plan.chunks[after[e]]}",
        )
    for e in np.flatnonzero(plan.shard[after] != plan.shard[flow])[:1]:
        refuse_plan(plan, f"flow {flow[e]} waits for flow {after[e]} of another shard")


def _check_shards(plan: TransferGraph) -> None:
    """Shards cut their block: equal bytes within a shard, the block's bytes over all of its."""
    blocks = plan.blocks
    for f in np.flatnonzero((plan.block < 0) | (plan.block >= len(blocks)))[:1]:
        refuse_plan(plan, f"flow {f} carries block {plan.block[f]}; there are {len(blocks)}")
    _, first, member = np.unique(plan.shard, return_index=True, return_inverse=True)
    shard_bytes, shard_block = plan.flow_bytes[first], plan.block[first]
    for f in np.flatnonzero(plan.flow_bytes != shard_bytes[member])[:1]:
        refuse_plan(
            plan,
            f"flow {f} carries {plan.flow_bytes[f]} bytes of shard {plan.shard[f]}, "
            f"which has {shard_bytes[member[f]]}",
        )
    for f in np.flatnonzero(plan.block != shard_block[member])[:1]:
        refuse_plan(plan, f"flow {f} carries shard {plan.shard[f]} of another block")
    carried = np.zeros(len(blocks), dtype=np.int64)
    np.add.at(carried, shard_block, shard_bytes)
    for b in np.flatnonzero((carried != blocks.size_bytes) & _travels(plan))[:1]:
        missing = int(blocks.size_bytes[b] - carried[b])
        verb = "too few" if missing > 0 else "too many"
        refuse_plan(
            plan, f"flows {_ends(plan, int(b))} carry {abs(missing)} bytes {verb} of block {b}"
        )


def _travels(plan: TransferGraph) -> BoolArray:
    """Blocks that somebody wants who does not have them: all but those of one rack for itself."""
    blocks = plan.blocks
    stays = np.zeros(len(blocks), dtype=np.bool_)
    single = blocks.single
    at = blocks.source[blocks.source_start[single]], blocks.target[blocks.target_start[single]]
    stays[single] = at[0] == at[1]
    return ~stays


def _ends(plan: TransferGraph, block: int) -> str:
    sources, targets = plan.blocks.sources(block), plan.blocks.targets(block)

    def name(racks: IntArray) -> str:
        return str(racks[0]) if len(racks) == 1 else "all" if len(racks) == len(plan.racks) else "*"

    return f"{name(sources)}->{name(targets)}"


def _check_semantics(plan: TransferGraph, order: IntArray) -> None:
    verdict = semantics.judge(plan, order)
    a, b = verdict.a, verdict.b
    if verdict.code == semantics.SEND_RACE:
        refuse_plan(
            plan,
            f"flow {a} may leave rack {plan.src[a]} before or after flow {b} of shard "
            f"{verdict.shard} arrives there; order them with after",
        )
    if verdict.code == semantics.OWN_RACE:
        refuse_plan(plan, f"flow {a} may leave before rack {plan.src[a]}'s own data; set local")
    if verdict.code == semantics.OVERWRITE_RACE:
        refuse_plan(
            plan,
            f"flow {b} overwrites shard {verdict.shard} at rack {plan.dst[b]} while flow {a} "
            f"arrives there in no fixed order",
        )
    if verdict.code == semantics.WRONG_COUNT:
        refuse_plan(
            plan,
            f"rack {plan.racks[a]} ends with the contribution of rack {plan.racks[b]} to shard "
            f"{verdict.shard} {verdict.count} times instead of {verdict.wanted}",
        )
