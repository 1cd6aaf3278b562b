"""Rows of the record: tasks, events, iterations and the load of fibres over time."""

from __future__ import annotations

from dataclasses import asdict
from operator import attrgetter
from typing import Any, Final

import numpy as np

from thzsync.arrays import to_ps
from thzsync.coordinator import Action
from thzsync.execution import Agenda, Finished, Priority, Work
from thzsync.optical import Fabric
from thzsync.records import Lists, Recorder
from thzsync.scenario import Thz
from thzsync.simulation.jobs import JobRun
from thzsync.simulation.metrics import EventCost, Progress, bubble
from thzsync.simulation.radio import steps_used
from thzsync.simulation.world import World
from thzsync.wireless import round as c
from thzsync.workload import Compute, Event

SPAN_PS: Final = 20 * 10**9
"""Length of one sample of the fibres' load, 20 ms [ps]."""
MANY_FIBRES: Final = 4096
"""With more fibres samples are longer by a whole factor, which limits the size of the table."""


def write_task(to: Recorder, iteration: int, task: Compute, start_ps: int, end_ps: int) -> None:
    """Add the row of a compute task that has ended."""
    to.add(
        "tasks",
        iteration=iteration,
        node=task.id,
        phase=str(task.phase),
        start_ps=start_ps,
        end_ps=end_ps,
        duration_ps=to_ps(task.duration_s),
        rank=-1 if task.rank is None else task.rank,
        **_named(task, "job", "stage", "microbatch", "racks", "after"),
    )


def _named(of: object, *names: str) -> dict[str, Any]:
    """Columns that have the name of their attribute."""
    return {name: getattr(of, name) for name in names}


def write_event(
    to: Recorder,
    iteration: int,
    event: Event,
    action: Action,
    done: Finished,
    cost: EventCost,
    thz: Thz,
) -> None:
    """Add the rows of an event that has ended: blocks, flows, chunks, rounds, transmissions."""
    work, graph = done.work, done.work.graph
    buffer_bytes, bus_bytes = event.measured_bytes
    to.add(
        "events",
        iteration=iteration,
        node=event.id,
        number=work.number,
        method=graph.method,
        racks=graph.racks,
        delay_ps=work.delays_ps,
        power=action.power,
        release_ps=work.release_ps,
        end_ps=done.end_ps,
        completion_ms=cost.completion_s * 1e3,
        algbw_gb_s=buffer_bytes / cost.completion_s * 1e-9 if cost.completion_s else 0.0,
        busbw_gb_s=bus_bytes / cost.completion_s * 1e-9 if cost.completion_s else 0.0,
        decision_thz_share=int(graph.thz_chunks.sum()) / max(1, work.chunks),
        **_named(event, "job", "kind", "stage", "microbatch", "label", "payload_bytes", "after"),
        **_named(cost, "optical_energy_j", "thz_energy_j", "further_energy_j", "reward"),
        **_named(cost, "optical_wall_j", "thz_wall_j", "further_wall_j", "static_j"),
        **_named(cost, "wired_bytes", "thz_bytes", "further_bytes"),
        **_named(cost, "fallback_chunks", "rerouted_chunks"),
    )
    if not to.keeps("chunks"):
        return
    _write_flows(to, done)
    if work.rounds:
        _write_rounds(to, work, thz)
    for carrier, sent in work.sendings:
        to.add(
            "sendings",
            carrier=carrier,
            bytes=sent.size_bytes,
            **_named(sent, "number", "flow", "first_chunk", "chunks"),
            **_named(sent, "start_ps", "end_ps", "energy_j"),
        )


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
        bytes=graph.flow_bytes,
        **_named(graph, "src", "dst", "chunks", "chunk_bytes", "thz_chunks"),
        **_named(graph, "local", "block", "shard", "reduces"),
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
        decided=graph.decided,
        carrier=done.carrier,
        ready_ps=done.ready_ps,
        end_ps=done.arrival_ps,
    )


def _write_rounds(to: Recorder, work: Work, thz: Thz) -> None:
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
    power_w, gain, noise_w = (np.concatenate(each(name)) for name in ("power_w", "gain", "noise_w"))
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
        power_w=power_w,
        gain=gain,
        bytes=sent[:, c.BYTES],
        noise_w=noise_w,
        **steps_used(thz, sent[:, c.SUBBAND], power_w, gain, noise_w)._asdict(),
    )


def exposed_ms(makespan_ms: float, computing_s: float) -> float:
    """Time that compute does not hide, without the error of rounding to picoseconds [ms]."""
    uncovered_ms = makespan_ms - computing_s * 1e3
    return uncovered_ms if abs(uncovered_ms) > 5e-7 else 0.0


def write_iteration(run: JobRun, progress: Progress, end_ps: int, world: World) -> None:
    """Add the row of an iteration that has ended."""
    costs, makespan_ps, scenario = run.costs, end_ps - run.start_ps, world.scenario
    thz_bytes = sum(c.thz_bytes for c in costs)
    all_bytes = thz_bytes + sum(c.wired_bytes + c.further_bytes for c in costs)
    air_ps = 2 * sum(c.airtime_ps for c in costs)  # both ends are busy
    slots = scenario.floor.racks * scenario.thz.subbands
    capacity_bits = np.maximum(world.fabric.network.rate_bps, 1) * (max(1, makespan_ps) * 1e-12)
    computing_s = run.graph.critical_path_s()  # its length without communication
    run.recorder.add(
        "iterations",
        start_ps=run.start_ps,
        end_ps=end_ps,
        **_energies(run, makespan_ps * 1e-12, world),
        exposed_ms=exposed_ms(progress.makespan_ms, computing_s),
        bubble=bubble(run.computed, makespan_ps),
        thz_share=thz_bytes / all_bytes if all_bytes else 0.0,
        fallback_chunks=sum(c.fallback_chunks for c in costs),
        rerouted_chunks=sum(c.rerouted_chunks for c in costs),
        thz_utilisation=air_ps / max(1, slots * makespan_ps),
        optical_utilisation=float((8 * run.load_bytes / capacity_bits).max()),
        **asdict(progress),
    )


def _energies(run: JobRun, lasts_s: float, world: World) -> dict[str, Any]:
    """Columns of an iteration's energy beside ``energy_j``."""

    def total(name: str) -> float:
        return sum((float(getattr(cost, name)) for cost in run.costs), 0.0)

    wall = {name: total(name) for name in ("optical_wall_j", "thz_wall_j", "further_wall_j")}
    racks = world.topology.partition(run.job).racks.size
    static = world.meter.static(racks, lasts_s, total("link_s"), total("in_use_s"))
    parts = {name.replace("_j", "_static_j"): value for name, value in static._asdict().items()}
    wall_j, static_j = sum(wall.values()), sum(static)
    return {
        **{name: total(name) for name in ("optical_energy_j", "thz_energy_j", "further_energy_j")},
        **wall,
        **parts,
        "wall_energy_j": wall_j,
        "static_energy_j": static_j,
        "total_energy_j": wall_j + static_j,
    }


def span_ps(fibres: int) -> int:
    """Length of one sample with this number of fibres [ps]."""
    return SPAN_PS * -(-fibres // MANY_FIBRES)


class LinkSampler:
    """Records the bytes of each fibre on a fixed grid and wherever an iteration ends."""

    def __init__(self, fabric: Fabric, agenda: Agenda, recorder: Recorder) -> None:
        self._fabric, self._agenda, self._recorder = fabric, agenda, recorder
        self._seen = np.zeros((2, fabric.network.links), dtype=np.int64)
        self._since_ps = 0
        self._span_ps = span_ps(int((fabric.network.rate_bps > 0).sum()))
        agenda.add(self._span_ps, Priority.SAMPLE, self._sample, None)

    def _sample(self, _: None) -> None:
        self.cut()
        self._agenda.add(self._since_ps + self._span_ps, Priority.SAMPLE, self._sample, None)

    def cut(self) -> None:
        """End the current span and begin another."""
        now = self._fabric.now_ps
        if now == self._since_ps:
            return
        total = np.stack(self._fabric.link_bytes())
        carried = total - self._seen
        link = np.flatnonzero(carried.any(axis=0))
        if len(link):
            self._recorder.add(
                "links",
                len(link),
                start_ps=self._since_ps,
                end_ps=now,
                link=link,
                bytes=carried[0, link],
                background_bytes=carried[1, link],
            )
        self._seen, self._since_ps = total, now
