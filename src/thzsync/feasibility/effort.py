"""About how long a run takes, and how much memory and disk, worked out before it starts.

The costs are round figures of runs on one core. They are meant to tell a minute from an
hour: another machine, or a learner that trains more, may well need twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
REFERENCES: Final = 3
"""Iterations of All-Wired that come before a run."""


@dataclass(frozen=True)
class Effort:
    """What a run takes."""

    events: int
    """Decisions of one iteration."""
    seconds: float
    references_s: float
    """Of the seconds: those of the references, which the runs of a realisation share."""
    memory_bytes: float
    disk_bytes: float


def effort_of(
    scenario: Scenario, iterations: int, learns: bool, kept: bool, seed: int = 0
) -> Effort:
    """What some iterations of a scenario take, references included.

    If they are not ``kept`` on disk, nobody sees more of them than their summary.
    """
    topology, streams = Topology(scenario.floor), Streams(seed)
    events, seconds, references_s, disk_bytes = 0, 0.0, 0.0, 0.0
    memory_bytes = _PROCESS_BYTES + floor_bytes(scenario)
    for job in scenario.jobs:
        graph = job_graph(job, topology, streams)
        load = load_of([graph], scenario)
        own, first = job.iterations or iterations, job.iterations or REFERENCES
        carried_s = load.events * _EVENT_S + load.all_chunks * _CHUNK_S
        if not in_flows(scenario):
            carried_s += load.packet_hops * _HOP_S + _bursts(scenario, graph) * _BURST_S
        decided_s = load.events * _LEARNT_S if learns else 0.0
        events += load.events
        seconds += (own + first) * carried_s + own * decided_s
        references_s += first * carried_s
        memory_bytes += load.carried_bytes + load.record_bytes(own, kept)
        disk_bytes += own * load.all_chunks * _CHUNK_DISK_BYTES if kept else 0.0
    return Effort(max(1, events), seconds, references_s, memory_bytes, disk_bytes)


def _bursts(scenario: Scenario, graph: TrainingGraph) -> float:
    return graph.critical_path_s() * bursts_per_s(scenario)
