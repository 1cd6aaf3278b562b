"""Checks that a schedule carries every chunk of its plan once and in order."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError
from thzsync.transfers.airtime import refuse
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.schedule import Schedule


def refuse_plan(plan: TransferGraph, what: str) -> NoReturn:
    """Raise with the plan and what is wrong with it."""
    raise ThzSyncError(f"{plan.kind} plan {plan.method!r}: {what}")


def check_delivery(schedule: Schedule) -> tuple[IntArray, IntArray]:
    """Every THz chunk exactly once, no other; when each chunk leaves and arrives [ps]."""
    plan, rows = schedule.plan, len(schedule.flow)
    owned = plan.thz_chunks
    columns = (
        schedule.round,
        schedule.first_chunk,
        schedule.chunks,
        schedule.subband,
        schedule.start_ps,
        schedule.end_ps,
        schedule.power_w,
        schedule.gain,
        schedule.overhead_ps,
    )
    if any(len(column) != rows for column in columns):
        refuse_plan(plan, "all columns of its schedule must have one entry per transmission")
    flow, first, count = schedule.flow, schedule.first_chunk, schedule.chunks
    for n in np.flatnonzero((flow < 0) | (flow >= plan.flows))[:1]:
        refuse_plan(plan, f"transmission {n} belongs to flow {flow[n]}, which does not exist")
    for n in np.flatnonzero((first < 0) | (count < 1) | (first + count > owned[flow]))[:1]:
        refuse(
            schedule,
            n,
            f"reaches beyond the {owned[flow[n]]} chunks of its flow that belong to THz",
        )
    chunk = np.repeat(plan.first_chunk[flow] + first - np.cumsum(count) + count, count)
    chunk += np.arange(len(chunk))
    times = np.bincount(chunk, minlength=len(plan.chunk_flow))
    for k in np.flatnonzero(times != plan.on_thz)[:1]:
        f = plan.chunk_flow[k]
        refuse_plan(
            plan,
            f"chunk {plan.chunk_number[k]} of flow {f} ({plan.src[f]}->{plan.dst[f]}) is sent "
            f"{times[k]} times instead of {int(plan.on_thz[k])}",
        )
    several = np.bincount(flow, minlength=plan.flows) > 1
    for f in np.flatnonzero(plan.bundled & several)[:1]:
        refuse_plan(plan, f"flow {f} is bundled but travels in several transmissions")
    departure_ps = np.full(len(times), -1, dtype=np.int64)
    arrival_ps = departure_ps.copy()
    departure_ps[chunk] = np.repeat(schedule.start_ps, count)
    arrival_ps[chunk] = np.repeat(schedule.end_ps, count)
    return departure_ps, arrival_ps


def check_times(schedule: Schedule, departure_ps: IntArray, arrival_ps: IntArray) -> None:
    """Release, precedence chunk by chunk, stage barriers, and rounds that start together."""
    plan = schedule.plan
    flow, start_ps = schedule.flow, schedule.start_ps
    release_ps = schedule.release_ps[np.searchsorted(plan.racks, plan.src[flow])]
    for n in np.flatnonzero(plan.local[flow] & (start_ps < release_ps))[:1]:
        refuse(schedule, n, f"starts before its source's data is released at {release_ps[n]} ps")
    sooner, later = plan.chunk_edges
    # Where either chunk travels by fibre its time is not in this schedule.
    both = (departure_ps[later] >= 0) & (arrival_ps[sooner] >= 0)
    for e in np.flatnonzero(both & (departure_ps[later] < arrival_ps[sooner]))[:1]:
        refuse_plan(
            plan,
            f"chunk {plan.chunk_number[later[e]]} of flow {plan.chunk_flow[later[e]]} leaves at "
            f"{departure_ps[later[e]]} ps, before that of flow {plan.chunk_flow[sooner[e]]} "
            f"arrives at {arrival_ps[sooner[e]]} ps",
        )
    _check_stages(schedule)
    _check_rounds(schedule)


def _check_stages(schedule: Schedule) -> None:
    stage = schedule.plan.stage[schedule.flow]
    if not stage.any():
        return
    order = np.argsort(stage, kind="stable")
    ended_ps = np.maximum.accumulate(schedule.end_ps[order])
    below = np.searchsorted(stage[order], stage)
    for n in np.flatnonzero((below > 0) & (schedule.start_ps < ended_ps[below - 1]))[:1]:
        refuse(schedule, n, f"starts in stage {stage[n]} before lower stages are done")


def _check_rounds(schedule: Schedule) -> None:
    order = np.argsort(schedule.round, kind="stable")
    number, start_ps = schedule.round[order], schedule.start_ps[order]
    if len(number) and number[0] < 0:
        refuse(schedule, int(order[0]), "has a round below 0")
    for m in np.flatnonzero((number[1:] == number[:-1]) & (start_ps[1:] != start_ps[:-1]))[:1]:
        refuse(schedule, int(order[m + 1]), "does not start with the rest of its round")
