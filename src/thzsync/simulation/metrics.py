"""What events and iterations cost, as rows of the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thzsync.arrays import to_ps
from thzsync.simulation.active import ActiveEvent, decided_on_thz
from thzsync.workload import Compute, TrainingGraph

if TYPE_CHECKING:
    from thzsync.simulation.engine import Engine
    from thzsync.simulation.world import World


@dataclass(frozen=True)
class EventCost:
    """Time, energy and bytes of one finished event."""

    completion_s: float
    optical_energy_j: float
    thz_energy_j: float
    wired_bytes: int
    thz_bytes: int
    airtime_ps: int
    """Sum of transmission times, for the overlay's utilisation [ps]."""
    fallback_chunks: int
    rerouted_chunks: int
    reward: float = 0.0

    @property
    def energy_j(self) -> float:
        """E_e (eq:event_energy_total) [J]."""
        return self.optical_energy_j + self.thz_energy_j

    @classmethod
    def of(cls, world: World, active: ActiveEvent, end_ps: int) -> EventCost:
        """The cost of an event that has just ended."""
        plan, on_thz = active.plan, active.on_thz
        decided = decided_on_thz(plan, active.action.thz_chunks)
        return cls(
            completion_s=(end_ps - active.release_ps) * 1e-12,
            optical_energy_j=world.optical_energy_j(plan, np.flatnonzero(~on_thz)),
            thz_energy_j=sum(served.energy_j for served in active.rounds),
            wired_bytes=int(plan.chunk_sizes[~on_thz].sum()),
            thz_bytes=int(plan.chunk_sizes[on_thz].sum()),
            airtime_ps=sum(r.duration_ps * len(r.flow) for r in active.rounds),
            fallback_chunks=int((decided & ~on_thz).sum()),
            rerouted_chunks=int((~decided & on_thz).sum()),
        )

    def with_reward(self, reward: float) -> EventCost:
        """The same cost with its reward."""
        return replace(self, reward=reward)


@dataclass(frozen=True)
class Progress:
    """Running totals that a progress bar can show."""

    iteration: int
    completion_ms: float
    energy_j: float
    reward: float
    makespan_ms: float


def task_row(iteration: int, task: Compute, start_ps: int, end_ps: int) -> dict[str, Any]:
    """A row of the tasks table."""
    return {
        "iteration": iteration,
        "node": task.id,
        "job": task.job,
        "stage": task.stage,
        "microbatch": task.microbatch,
        "phase": str(task.phase),
        "start_ps": start_ps,
        "end_ps": end_ps,
        "duration_ps": to_ps(task.duration_s),
        "after": [list(task.after)],
    }


def event_row(
    iteration: int, active: ActiveEvent, end_ps: int, cost: EventCost, reward: float
) -> dict[str, Any]:
    """A row of the events table."""
    event, plan = active.event, active.plan
    chunks = max(1, len(plan.chunk_flow))
    return {
        "iteration": iteration,
        "node": event.id,
        "number": active.number,
        "job": event.job,
        "kind": event.kind.value,
        "stage": event.stage,
        "microbatch": event.microbatch,
        "label": event.label,
        "method": plan.method,
        "racks": [plan.racks.tolist()],
        "delay_ps": [active.delays_ps.tolist()],
        "power": [active.action.power.tolist()],
        "payload_bytes": event.payload_bytes,
        "release_ps": active.release_ps,
        "end_ps": end_ps,
        "completion_ms": cost.completion_s * 1e3,
        "optical_energy_j": cost.optical_energy_j,
        "thz_energy_j": cost.thz_energy_j,
        "reward": reward,
        "wired_bytes": cost.wired_bytes,
        "thz_bytes": cost.thz_bytes,
        "fallback_chunks": cost.fallback_chunks,
        "rerouted_chunks": cost.rerouted_chunks,
        "decision_thz_share": int(active.action.thz_chunks.sum()) / chunks,
        "after": [list(event.after)],
    }


def iteration_row(engine: Engine, graph: TrainingGraph) -> Progress:
    """Record the iteration that has just ended and return its running totals."""
    costs, world = engine.costs, engine.world
    thz, topology = world.scenario.thz, world.topology
    makespan_ps = engine.now_ps - engine.start_ps
    optical_j = sum(c.optical_energy_j for c in costs)
    thz_j = sum(c.thz_energy_j for c in costs)
    thz_bytes = sum(c.thz_bytes for c in costs)
    all_bytes = thz_bytes + sum(c.wired_bytes for c in costs)
    stages = len({(task.job, task.stage) for task in graph.computes})
    air_ps = 2 * sum(c.airtime_ps for c in costs)  # both ends are busy
    progress = Progress(
        iteration=engine.iteration,
        completion_ms=sum(c.completion_s for c in costs) * 1e3,
        energy_j=optical_j + thz_j,
        reward=float(np.mean([c.reward for c in costs])) if costs else 0.0,
        makespan_ms=makespan_ps * 1e-9,
    )
    engine.recorder.add(
        "iterations",
        iteration=engine.iteration,
        start_ps=engine.start_ps,
        end_ps=engine.now_ps,
        completion_ms=progress.completion_ms,
        energy_j=progress.energy_j,
        optical_energy_j=optical_j,
        thz_energy_j=thz_j,
        reward=progress.reward,
        makespan_ms=progress.makespan_ms,
        exposed_ms=progress.makespan_ms - graph.critical_path_s() * 1e3,
        bubble=1 - engine.busy_ps / max(1, stages * makespan_ps),
        thz_share=thz_bytes / all_bytes if all_bytes else 0.0,
        fallback_chunks=sum(c.fallback_chunks for c in costs),
        rerouted_chunks=sum(c.rerouted_chunks for c in costs),
        thz_utilisation=air_ps / max(1, topology.racks * thz.subbands * makespan_ps),
        optical_utilisation=engine.sampler.close_iteration(makespan_ps),
    )
    return progress
