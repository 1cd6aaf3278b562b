"""One collective alone on the overlay: everything on THz, every rack at full power."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.channel import ChannelModel
from thzsync.collectives import Demand, Plan, Schedule
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario, Thz
from thzsync.synthesis import Context, Method
from thzsync.topology import Topology
from thzsync.wireless.overlay import NEVER_PS, Overlay
from thzsync.wireless.round import Round

_EVENT = 0


def run_collective(
    demand: Demand,
    racks: Sequence[int] | IntArray,
    method: Method,
    scenario: Scenario,
    topology: Topology,
    channel: ChannelModel,
    release_s: Sequence[float] | FloatArray,
) -> Schedule:
    """Plan and carry out one event; ``release_s`` [s] is each rack's lateness, by ``racks``."""
    members = np.array(racks, dtype=np.int64)
    _check_racks(members, topology)
    late_s = np.array(release_s, dtype=np.float64)
    context = Context(channel.gain_matrix(members, 0), late_s, scenario.thz)
    plan = method.plan(demand, members, scenario.collectives.chunk_bytes, context)
    release_ps = np.array([to_ps(s) for s in late_s], dtype=np.int64)
    return run_plan(plan, method, scenario.thz, channel, topology.racks, release_ps)


def run_plan(
    plan: Plan, method: Method, thz: Thz, channel: ChannelModel, racks: int, release_ps: IntArray
) -> Schedule:
    """Carry out a plan; the schedule it returns has been checked."""
    from thzsync.collectives.check import check_schedule

    overlay = Overlay(thz, channel, racks)
    budget_w = np.full(len(plan.racks), thz.max_power_w)
    overlay.admit(_EVENT, plan, method, plan.chunks, budget_w, 0)
    rounds = _drive(overlay, plan, release_ps, thz)
    schedule = _schedule(plan, release_ps, rounds)
    check_schedule(schedule, thz)
    return schedule


def _drive(overlay: Overlay, plan: Plan, release_ps: IntArray, thz: Thz) -> list[Round]:
    """The event loop: releases and ends of rounds in the order of time."""
    precedence = _Precedence(plan)
    releases = sorted({int(t) for t in release_ps})
    agenda: list[tuple[int, int, Round | None]] = [(t, n, None) for n, t in enumerate(releases)]
    rounds: list[Round] = []
    while overlay.outstanding(_EVENT):
        if not agenda:
            raise ThzSyncError(_blocked_message(overlay, plan, thz))
        now_ps, _, ended = heapq.heappop(agenda)
        if ended is not None:
            overlay.finish(ended, now_ps)
            ready = precedence.deliver(ended)
        else:
            ready = precedence.release(plan.racks[release_ps == now_ps])
        if len(ready):
            flow = plan.chunk_flow[ready]
            overlay.ready_many(_EVENT, flow, ready - plan.first_chunk[flow], now_ps)
        if agenda and agenda[0][0] == now_ps:
            continue
        for started in overlay.dispatch(now_ps):
            heapq.heappush(agenda, (started.end_ps, len(releases) + len(rounds), started))
            rounds.append(started)
        if not agenda:
            _await_channel(overlay, agenda, now_ps, thz)
    return rounds


def _await_channel(
    overlay: Overlay, agenda: list[tuple[int, int, Round | None]], now_ps: int, thz: Thz
) -> None:
    """Nothing is in the air: look again when the channel changes, until the timeout."""
    since_ps = min((stuck.since_ps for stuck in overlay.waiting()), default=now_ps)
    again_ps = overlay.next_change_ps(now_ps)
    if again_ps < NEVER_PS and again_ps - since_ps <= to_ps(thz.fallback_timeout_s):
        agenda.append((again_ps, -1, None))


def _blocked_message(overlay: Overlay, plan: Plan, thz: Thz) -> str:
    stuck = overlay.waiting()
    if not stuck:  # no stuck flow and no agenda would be a fault of this module
        raise AssertionError("the overlay is idle although nothing is blocked")
    flow = stuck[0].flow
    return (
        f"rack {plan.src[flow]} -> rack {plan.dst[flow]}: blocked on every subband since "
        f"{stuck[0].since_ps * 1e-9:.3f} ms ({len(stuck)} flows wait); a chunk of "
        f"{plan.chunk_bytes} bytes needs more than {thz.max_power_w} W to pass within "
        f"{thz.longest_round_s} s: raise thz.max_power_w or thz.longest_round_s, or use the fibre"
    )


class _Precedence:
    """Which chunks may leave their source (eq:ar_reduce_release, eq:ar_broadcast_release)."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        waits = np.diff(plan.after_start) + plan.local
        self._waits = np.repeat(waits, plan.chunks)
        self._followers: list[list[int]] = [[] for _ in range(plan.flows)]
        for flow in range(plan.flows):
            for before in plan.predecessors(flow).tolist():
                self._followers[before].append(flow)

    def release(self, racks: IntArray) -> IntArray:
        """Rows of chunks that become ready when the racks' own data is there."""
        flows = np.flatnonzero(self._plan.local & np.isin(self._plan.src, racks))
        rows = [self._rows(f, 0, int(self._plan.chunks[f])) for f in flows.tolist()]
        return self._satisfy(rows)

    def deliver(self, ended: Round) -> IntArray:
        """Rows of chunks that become ready when a round's chunks have arrived."""
        rows = []
        columns = (ended.flow.tolist(), ended.first_chunk.tolist(), ended.chunks.tolist())
        for flow, first, chunks in zip(*columns, strict=True):
            rows += [self._rows(f, first, chunks) for f in self._followers[flow]]
        return self._satisfy(rows)

    def _rows(self, flow: int, first: int, chunks: int) -> IntArray:
        start = int(self._plan.first_chunk[flow]) + first
        return np.arange(start, start + chunks)

    def _satisfy(self, rows: list[IntArray]) -> IntArray:
        if not rows:
            return np.zeros(0, dtype=np.int64)
        touched = np.concatenate(rows)
        np.subtract.at(self._waits, touched, 1)
        return np.unique(touched[self._waits[touched] == 0])


def _schedule(plan: Plan, release_ps: IntArray, rounds: list[Round]) -> Schedule:
    sizes = [len(r.flow) for r in rounds]

    def column(name: str, kind: type) -> IntArray:
        parts = [getattr(r, name) for r in rounds]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)

    return Schedule(
        plan=plan,
        release_ps=release_ps,
        round=np.repeat(np.arange(len(rounds), dtype=np.int64), sizes),
        flow=column("flow", np.int64),
        first_chunk=column("first_chunk", np.int64),
        chunks=column("chunks", np.int64),
        subband=column("subband", np.int64),
        start_ps=np.repeat(np.array([r.start_ps for r in rounds], dtype=np.int64), sizes),
        end_ps=np.repeat(np.array([r.end_ps for r in rounds], dtype=np.int64), sizes),
        power_w=column("power_w", np.float64).astype(np.float64),
        gain=column("gain", np.float64).astype(np.float64),
        overhead_ps=rounds[0].overhead_ps if rounds else 0,
    )


def _check_racks(racks: IntArray, topology: Topology) -> None:
    if len(racks) == 0 or (np.diff(racks) <= 0).any():
        raise ThzSyncError("racks: name at least one rack, each once, in rising order")
    if racks[0] < 0 or racks[-1] >= topology.racks:
        raise ThzSyncError(f"racks: the floor has racks 0..{topology.racks - 1}")
