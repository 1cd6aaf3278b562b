"""Is a plan right, and did a schedule carry it out within the rules?

Both raise a ThzSyncError that names the first broken fact. They judge the written rules afresh
(the rate is computed here again, eq:thz_rate) so that they share no mistake with the executor.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import semantics
from thzsync.collectives.airtime import check_airtime
from thzsync.collectives.delivery import check_delivery, check_times, refuse_plan
from thzsync.collectives.demand import Kind, Reduction, Transfer
from thzsync.collectives.plan import Plan
from thzsync.collectives.schedule import Schedule
from thzsync.scenario import Thz


def check_plan(plan: Plan) -> None:
    """Refuse a plan that does not turn the collective's precondition into its postcondition.

    Holds for every order that the precedence allows: complete delivery, demand met exactly, every
    contribution reduced exactly once, no cycle, no race between what leaves and what arrives.
    """
    _check_columns(plan)
    _check_precedence(plan)
    order = semantics.topological_order(plan.after_start, plan.after)
    if len(order) < plan.flows:
        stuck = np.setdiff1d(np.arange(plan.flows), order)
        refuse_plan(plan, f"flows {stuck[:5].tolist()} wait for each other; remove the cycle")
    if isinstance(plan.demand, Reduction):
        _check_shards(plan, plan.demand)
        _check_reduction(plan, order)
    else:
        _check_transfers(plan, plan.demand)


def check_schedule(
    schedule: Schedule,
    thz: Thz,
    thz_chunks: IntArray | None = None,
    budget_w: FloatArray | None = None,
) -> None:
    """Refuse a schedule that breaks its plan or a rule of the air.

    ``thz_chunks`` tells how many chunks of each flow belong to THz, the first ones (all by
    default); ``budget_w`` limits each rack's power further, by position in ``plan.racks`` [W].
    """
    check_plan(schedule.plan)
    plan = schedule.plan
    owned = plan.chunks if thz_chunks is None else np.asarray(thz_chunks, dtype=np.int64)
    if len(owned) != plan.flows or (owned < 0).any() or (owned > plan.chunks).any():
        refuse_plan(plan, "thz_chunks must hold 0..K_f for every flow f")
    departure_ps, arrival_ps = check_delivery(schedule, owned)
    check_times(schedule, departure_ps, arrival_ps)
    check_airtime(schedule, thz, budget_w)


def _check_columns(plan: Plan) -> None:
    flows = plan.flows
    columns = (plan.dst, plan.flow_bytes, plan.local, plan.shard, plan.reduces, plan.stage)
    if any(len(column) != flows for column in columns) or len(plan.after_start) != flows + 1:
        refuse_plan(plan, "all columns must have one entry per flow")
    if (np.diff(plan.racks) <= 0).any():
        refuse_plan(plan, f"racks {plan.racks.tolist()} must be ascending, each named once")
    if (plan.kind is Kind.ALLREDUCE) != isinstance(plan.demand, Reduction):
        refuse_plan(plan, f"a demand of type {type(plan.demand).__name__} does not fit its kind")
    for f in np.flatnonzero(~np.isin(plan.src, plan.racks) | ~np.isin(plan.dst, plan.racks))[:1]:
        refuse_plan(plan, f"flow {f} ({plan.src[f]}->{plan.dst[f]}) leaves the racks of the event")
    for f in np.flatnonzero(plan.src == plan.dst)[:1]:
        refuse_plan(plan, f"flow {f} leads from rack {plan.src[f]} to itself")
    if plan.chunk_bytes <= 0 or (plan.flow_bytes <= 0).any():
        refuse_plan(plan, "flows and chunks must have at least one byte")


def _check_precedence(plan: Plan) -> None:
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
    if plan.kind is Kind.ALLREDUCE:
        for e in np.flatnonzero(plan.shard[after] != plan.shard[flow])[:1]:
            refuse_plan(plan, f"flow {flow[e]} waits for flow {after[e]} of another shard")


def _check_transfers(plan: Plan, demand: Transfer) -> None:
    """Precondition: i holds D_ij; postcondition: j holds it, each byte carried once."""
    demand.check(f"{plan.kind} plan {plan.method!r}")
    wanted_src, wanted_dst = demand.src[demand.size_bytes > 0], demand.dst[demand.size_bytes > 0]
    asked = np.concatenate((wanted_src, wanted_dst))
    for rack in asked[~np.isin(asked, plan.racks)][:1]:
        refuse_plan(plan, f"the demand names rack {rack}, which does not take part")
    for f in np.flatnonzero(~plan.local)[:1]:
        refuse_plan(plan, f"flow {f} carries its source's own data but does not wait for it")
    n = len(plan.racks)
    left_bytes = np.zeros((n, n), dtype=np.int64)
    for sign, src, dst, size in (
        (1, demand.src, demand.dst, demand.size_bytes),
        (-1, plan.src, plan.dst, plan.flow_bytes),
    ):
        sized = size > 0
        i = np.searchsorted(plan.racks, src[sized])
        j = np.searchsorted(plan.racks, dst[sized])
        np.add.at(left_bytes, (i, j), sign * size[sized])
    for i, j in np.argwhere(left_bytes != 0)[:1]:
        pair = f"{plan.racks[i]}->{plan.racks[j]}"
        verb = "too few" if left_bytes[i, j] > 0 else "too many"
        refuse_plan(plan, f"flows {pair} carry {abs(left_bytes[i, j])} bytes {verb}")


def _check_shards(plan: Plan, demand: Reduction) -> None:
    """Shards cut the tensor: equal bytes within a shard, the tensor's bytes over all."""
    demand.check(f"{plan.kind} plan {plan.method!r}")
    if plan.flows == 0:
        if len(plan.racks) > 1 and demand.tensor_bytes > 0:
            refuse_plan(plan, "there are no flows, so nobody receives the sum")
        return
    _, first, member = np.unique(plan.shard, return_index=True, return_inverse=True)
    shard_bytes = plan.flow_bytes[first]
    for f in np.flatnonzero(plan.flow_bytes != shard_bytes[member])[:1]:
        refuse_plan(
            plan,
            f"flow {f} carries {plan.flow_bytes[f]} bytes of shard {plan.shard[f]}, "
            f"which has {shard_bytes[member[f]]}",
        )
    if int(shard_bytes.sum()) != demand.tensor_bytes:
        refuse_plan(
            plan, f"the shards hold {shard_bytes.sum()} of {demand.tensor_bytes} tensor bytes"
        )


def _check_reduction(plan: Plan, order: IntArray) -> None:
    verdict = semantics.judge_reduction(plan, order)
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
            f"{verdict.shard} {verdict.count} times instead of once",
        )
