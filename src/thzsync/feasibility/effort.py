"""About how long a run takes, and how much memory and disk, told before it starts.

The costs were measured on one core (docs/environment.md). They are meant to tell a minute from an
hour: another machine, or a learner that trains more, may well need twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from thzsync.arrays import size_text
from thzsync.feasibility.estimate import floor_bytes, load_of
from thzsync.feasibility.remarks import bursts_per_s
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph, job_graph

_EVENT_S: Final = 1e-3
_LEARNT_S: Final = 4e-3
"""What a learner adds to an event."""
_CHUNK_S: Final = 1.5e-6
_HOP_S: Final = 6e-8
_BURST_S: Final = 5e-8
_PROCESS_BYTES: Final = 2.5e8
_CHUNK_DISK_BYTES: Final = 9
WORTH_TELLING_S: Final = 30.0
REFERENCES: Final = 3
"""Iterations of All-Wired that come before a run."""


@dataclass(frozen=True)
class Effort:
    """What a run takes."""

    events: int
    """Decisions of one iteration."""
    seconds: float
    memory_bytes: float
    disk_bytes: float

    def __str__(self) -> str:
        return (
            f"about {duration_text(self.seconds)}, {size_text(self.memory_bytes)} of memory "
            f"and {size_text(self.disk_bytes)} on disk"
        )


def effort_of(scenario: Scenario, iterations: int, learns: bool, seed: int = 0) -> Effort:
    """What some iterations of a scenario take, references included."""
    topology, streams = Topology(scenario.floor), Streams(seed)
    graphs = [job_graph(job, topology, streams) for job in scenario.jobs]
    load = load_of(graphs, scenario)
    events = sum(len(graph.events) for graph in graphs)
    carried_s = events * _EVENT_S + load.all_chunks * _CHUNK_S
    if not in_flows(scenario):
        carried_s += load.packet_hops * _HOP_S + _bursts(scenario, graphs) * _BURST_S
    decided_s = events * _LEARNT_S if learns else 0.0
    return Effort(
        events=max(1, events),
        seconds=(iterations + REFERENCES) * carried_s + iterations * decided_s,
        memory_bytes=(
            _PROCESS_BYTES
            + floor_bytes(scenario)
            + load.memory_bytes
            + (iterations - 1) * load.record_bytes
        ),
        disk_bytes=iterations * load.all_chunks * _CHUNK_DISK_BYTES,
    )


def forewarning(scenario: Scenario, iterations: int, learns: bool, effort: Effort) -> str | None:
    """A line on a long run, with what would make it shorter; None for a short one."""
    if effort.seconds < WORTH_TELLING_S:
        return None
    if in_flows(scenario):
        return f"this takes {effort}"
    flows = scenario.model_copy(
        update={"optical": scenario.optical.model_copy(update={"fidelity": "flow"})}
    )
    sooner = effort_of(flows, iterations, learns)
    if sooner.seconds > 0.7 * effort.seconds:
        return f"this takes {effort}"
    saving = f"about {duration_text(sooner.seconds)} with --set optical.fidelity=flow"
    return f"this takes {effort}; {saving}"


def duration_text(seconds: float) -> str:
    """A rough duration for people, such as ``6 minutes``."""
    for unit, size in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}s"
    return f"{max(1, round(seconds))} s"


def _bursts(scenario: Scenario, graphs: list[TrainingGraph]) -> float:
    longest_s = max((graph.critical_path_s() for graph in graphs), default=0.0)
    return longest_s * bursts_per_s(scenario)
