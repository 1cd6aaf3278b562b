"""Costs of events and iterations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE, THZ
from thzsync.energy import counted_j, thz_wall_j
from thzsync.execution import Finished
from thzsync.simulation.radio import sent_again_bits
from thzsync.simulation.world import FibreUse, World
from thzsync.workload import Compute


@dataclass(frozen=True)
class EventCost:
    """Time, energy and bytes of one finished event."""

    completion_s: float
    optical_energy_j: float
    thz_energy_j: float
    further_energy_j: float
    """Of further carriers [J]."""
    optical_wall_j: float
    thz_wall_j: float
    further_wall_j: float
    static_j: float
    """Static energy of the event's racks while it lasts [J]."""
    link_s: float
    """Sum of the times that links took to send its bytes, where modules sleep [s]."""
    in_use_s: float
    """Sum of its transmissions' times, guard times included [s]."""
    counted_j: float
    """The energy that the reward counts [J]."""
    wired_bytes: int
    thz_bytes: int
    further_bytes: int
    airtime_ps: int
    """Sum of transmission times, for the overlay's utilisation [ps]."""
    fallback_chunks: int
    rerouted_chunks: int
    reward: float


@dataclass(frozen=True)
class Weights:
    """Weights of time and energy in a reward (eq:overall_objective)."""

    time: float
    energy: float
    counts: str = "transmission"
    """Which energy."""

    def reward(
        self, completion_s: float, energy_j: float, reference: tuple[float, float] | None
    ) -> float:
        """Minus the weighted cost, relative to the reference; 0 without one."""
        if reference is None:
            return 0.0
        time = self.time * completion_s / reference[0]
        energy = self.energy * energy_j / reference[1] if reference[1] else 0.0
        return -(time + energy)

    def prices(self, reference: tuple[float, float] | None, static_w: float) -> tuple[float, float]:
        """Rewards lost per second, static power included where it counts, and per joule."""
        per_s, per_j = -self.reward(1.0, 0.0, reference), -self.reward(0.0, 1.0, reference)
        return per_s + per_j * counted_j(self.counts, 0.0, 0.0, static_w), per_j


def wired_bytes_per_flow(done: Finished) -> IntArray:
    """Bytes of every flow on fibre."""
    graph = done.work.graph
    wired = np.bincount(graph.chunk_flow, graph.chunk_sizes * (done.carrier == FIBRE), graph.flows)
    return wired.astype(np.int64)


def last_arrivals_s(done: Finished, carriers: int) -> list[float]:
    """Arrival of the last chunk of every carrier after the release; 0 without any [s]."""
    since_s = (done.arrival_ps - done.work.release_ps) * 1e-12
    return [float(since_s[done.carrier == k].max(initial=0.0)) for k in range(carriers)]


def event_cost(
    done: Finished,
    fibre: FibreUse,
    world: World,
    weights: Weights,
    reference: tuple[float, float] | None,
) -> EventCost:
    """The cost of an event that has just ended."""
    work, graph, carrier = done.work, done.work.graph, done.carrier
    completion_s = (done.end_ps - work.release_ps) * 1e-12
    thz_bytes = int(graph.chunk_sizes[carrier == THZ].sum())
    in_use_s = sum((r.end_ps - r.start_ps) * len(r.table) for r in work.rounds) * 1e-12
    thz_j = float(sum(served.energy_j for served in work.rounds))
    thz_bits = 8.0 * thz_bytes + sent_again_bits(world.scenario.thz, work.rounds)
    thz_wall = thz_wall_j(world.scenario.energy.thz, in_use_s, thz_j, thz_bits)
    further_j = sum((sent.energy_j for _, sent in work.sendings), 0.0)
    further_wall = world.further_wall_j(work.sendings)
    static = world.meter.static(len(graph.racks), completion_s, fibre.link_s, in_use_s)
    energy_j = fibre.energy_j + thz_j + further_j  # E_e, eq:event_energy_total
    wall_j = fibre.wall_j + thz_wall + further_wall
    counted = counted_j(weights.counts, energy_j, wall_j, sum(static))
    return EventCost(
        completion_s=completion_s,
        optical_energy_j=fibre.energy_j,
        thz_energy_j=thz_j,
        further_energy_j=further_j,
        optical_wall_j=fibre.wall_j,
        thz_wall_j=thz_wall,
        further_wall_j=further_wall,
        static_j=sum(static),
        link_s=fibre.link_s,
        in_use_s=in_use_s,
        counted_j=counted,
        wired_bytes=fibre.size_bytes,
        thz_bytes=thz_bytes,
        further_bytes=int(graph.chunk_sizes[carrier > THZ].sum()),
        airtime_ps=sum(r.duration_ps * len(r.table) for r in work.rounds),
        fallback_chunks=int(((graph.decided != FIBRE) & (carrier == FIBRE)).sum()),
        rerouted_chunks=int(((graph.decided == FIBRE) & (carrier != FIBRE)).sum()),
        reward=weights.reward(completion_s, counted, reference),
    )


@dataclass(frozen=True)
class Progress:
    """The headline figures of an iteration that has ended."""

    job: str
    iteration: int
    completion_ms: float
    energy_j: float
    reward: float
    makespan_ms: float


def bubble(computed: Sequence[tuple[Compute, int, int]], makespan_ps: int) -> float:
    """Idle share of the time of all racks, or of all ranks where tasks name them.

    Places with the same tasks, such as the racks of a stage, are evaluated together.
    """
    spans: dict[tuple[int | None, bytes], list[tuple[int, int]]] = {}
    tasks: dict[tuple[int | None, bytes], Compute] = {}
    for task, start_ps, end_ps in computed:
        crew = task.rank, task.racks.tobytes()
        spans.setdefault(crew, []).append((start_ps, end_ps))
        tasks.setdefault(crew, task)
    crews: dict[tuple[str, int], list[tuple[int | None, bytes]]] = {}
    for crew, task in tasks.items():
        for place in computing(task):
            crews.setdefault(place, []).append(crew)
    alike = Counter(tuple(joined) for joined in crews.values())
    busy_ps = sum(
        places * _covered_ps([span for crew in joined for span in spans[crew]])
        for joined, places in alike.items()
    )
    return 1 - busy_ps / max(1, len(crews) * makespan_ps)


def computing(task: Compute) -> list[tuple[str, int]]:
    """Ranks or racks that are busy with a task."""
    if task.rank is not None:
        return [("rank", task.rank)]
    return [("rack", rack) for rack in task.racks.tolist()]


def _covered_ps(spans: list[tuple[int, int]]) -> int:
    """Length of the union of spans [ps]."""
    covered, until = 0, -1
    for start_ps, end_ps in sorted(spans):
        covered += max(0, end_ps - max(start_ps, until))
        until = max(until, end_ps)
    return covered
