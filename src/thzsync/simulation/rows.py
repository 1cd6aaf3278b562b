"""Rows of the record: what a simulation writes down about tasks, events and iterations."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from thzsync.arrays import to_ps
from thzsync.coordinator import Action
from thzsync.execution import Finished, Work
from thzsync.records import Lists, Recorder
from thzsync.simulation.metrics import EventCost, Progress, Tally, bubble
from thzsync.wireless import round as c
from thzsync.workload import Compute, Event


def write_task(to: Recorder, iteration: int, task: Compute, start_ps: int, end_ps: int) -> None:
    """A compute task that has ended."""
    to.add(
        "tasks",
        iteration=iteration,
        node=task.id,
        job=task.job,
        stage=task.stage,
        microbatch=task.microbatch,
        phase=str(task.phase),
        start_ps=start_ps,
        end_ps=end_ps,
        duration_ps=to_ps(task.duration_s),
        racks=task.racks,
        rank=-1 if task.rank is None else task.rank,
        after=task.after,
    )


def write_event(
    to: Recorder, iteration: int, event: Event, action: Action, done: Finished, cost: EventCost
) -> None:
    """An event that has ended, with its blocks, flows, chunks, rounds and transmissions."""
    work, graph = done.work, done.work.graph
    buffer_bytes, bus_bytes = event.measured_bytes
    to.add(
        "events",
        iteration=iteration,
        node=event.id,
        number=work.number,
        job=event.job,
        kind=event.kind,
        stage=event.stage,
        microbatch=event.microbatch,
        label=event.label,
        method=graph.method,
        racks=graph.racks,
        delay_ps=work.delays_ps,
        power=action.power,
        payload_bytes=event.payload_bytes,
        release_ps=work.release_ps,
        end_ps=done.end_ps,
        completion_ms=cost.completion_s * 1e3,
        algbw_gb_s=buffer_bytes / cost.completion_s * 1e-9 if cost.completion_s else 0.0,
        busbw_gb_s=bus_bytes / cost.completion_s * 1e-9 if cost.completion_s else 0.0,
        optical_energy_j=cost.optical_energy_j,
        thz_energy_j=cost.thz_energy_j,
        reward=cost.reward,
        wired_bytes=cost.wired_bytes,
        thz_bytes=cost.thz_bytes,
        fallback_chunks=cost.fallback_chunks,
        rerouted_chunks=cost.rerouted_chunks,
        decision_thz_share=int(graph.thz_chunks.sum()) / max(1, work.chunks),
        after=event.after,
    )
    if not to.keeps("chunks"):
        return
    _write_flows(to, done)
    if work.rounds:
        _write_rounds(to, work)


def _write_flows(to: Recorder, done: Finished) -> None:
    graph, number = done.work.graph, done.work.number
    blocks = graph.blocks
    to.add(
        "blocks",
        len(blocks),
        number=number,
        block=np.arange(len(blocks)),
        bytes=blocks.size_bytes,
        sources=Lists(blocks.source_start, blocks.source),
        targets=Lists(blocks.target_start, blocks.target),
    )
    single = len(graph.disciplines) == 1
    to.add(
        "flows",
        graph.flows,
        number=number,
        flow=np.arange(graph.flows),
        src=graph.src,
        dst=graph.dst,
        bytes=graph.flow_bytes,
        chunks=graph.chunks,
        chunk_bytes=graph.chunk_bytes,
        thz_chunks=graph.thz_chunks,
        local=graph.local,
        block=graph.block,
        shard=graph.shard,
        reduces=graph.reduces,
        discipline=graph.disciplines[0]
        if single
        else [graph.disciplines[d] for d in graph.discipline.tolist()],
        after=Lists(graph.after_start, graph.after),
    )
    to.add(
        "chunks",
        done.work.chunks,
        number=number,
        flow=graph.chunk_flow,
        chunk=graph.chunk_number,
        decided=graph.on_thz,
        thz=done.on_air,
        ready_ps=done.ready_ps,
        end_ps=done.arrival_ps,
    )


def _write_rounds(to: Recorder, work: Work) -> None:
    rounds = work.rounds

    def each(name: str) -> list[Any]:
        return list(map(attrgetter(name), rounds))

    tables = each("table")
    counts = np.array(list(map(len, tables)))
    sent = np.concatenate(tables)
    index, end_ps = np.array(each("index")), np.array(each("end_ps"))
    start_ps, overhead_ps = np.array(each("start_ps")), np.array(each("overhead_ps"))
    to.add(
        "rounds",
        len(rounds),
        number=work.number,
        round=index,
        start_ps=start_ps,
        end_ps=end_ps,
        overhead_ps=overhead_ps,
        discipline=each("discipline"),
        common=np.array(each("common")),
        transmissions=counts,
    )
    to.add(
        "transmissions",
        int(counts.sum()),
        number=work.number,
        round=np.repeat(index, counts),
        flow=sent[:, c.FLOW],
        first_chunk=sent[:, c.FIRST_CHUNK],
        chunks=sent[:, c.CHUNKS],
        src=sent[:, c.SRC],
        dst=sent[:, c.DST],
        subband=sent[:, c.SUBBAND],
        start_ps=np.repeat(start_ps + overhead_ps, counts),
        end_ps=np.repeat(end_ps, counts),
        power_w=np.concatenate(each("power_w")),
        gain=np.concatenate(each("gain")),
        bytes=sent[:, c.BYTES],
    )


def exposed_ms(makespan_ms: float, computing_s: float) -> float:
    """Time that compute did not hide; what rounding to picoseconds leaves of it is none [ms]."""
    uncovered_ms = makespan_ms - computing_s * 1e3
    return uncovered_ms if abs(uncovered_ms) > 5e-7 else 0.0


def iteration_row(
    progress: Progress,
    tally: Tally,
    start_ps: int,
    end_ps: int,
    *,
    computing_s: float,
    slots: int,
    optical_utilisation: float,
) -> dict[str, Any]:
    """An iteration that has ended.

    ``computing_s`` [s] is how long it would have taken without communication, ``slots`` the number
    of rack x subband places on the floor.
    """
    costs, makespan_ps = tally.costs, end_ps - start_ps
    thz_bytes = sum(c.thz_bytes for c in costs)
    all_bytes = thz_bytes + sum(c.wired_bytes for c in costs)
    air_ps = 2 * sum(c.airtime_ps for c in costs)  # both ends are busy
    return {
        "job": progress.job,
        "iteration": progress.iteration,
        "start_ps": start_ps,
        "end_ps": end_ps,
        "completion_ms": progress.completion_ms,
        "energy_j": progress.energy_j,
        "optical_energy_j": sum(c.optical_energy_j for c in costs),
        "thz_energy_j": sum(c.thz_energy_j for c in costs),
        "reward": progress.reward,
        "makespan_ms": progress.makespan_ms,
        "exposed_ms": exposed_ms(progress.makespan_ms, computing_s),
        "bubble": bubble(tally.computed, makespan_ps),
        "thz_share": thz_bytes / all_bytes if all_bytes else 0.0,
        "fallback_chunks": sum(c.fallback_chunks for c in costs),
        "rerouted_chunks": sum(c.rerouted_chunks for c in costs),
        "thz_utilisation": air_ps / max(1, slots * makespan_ps),
        "optical_utilisation": optical_utilisation,
    }
