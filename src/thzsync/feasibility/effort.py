"""About how long a run takes, and how much memory and disk, worked out before it starts.

The costs were fitted to runs of `tiny`, `paper`, a llama3-70b, a mixtral-8x7b and `pod-1024`, in
packets and in flows, under policies that use fibre, THz and both; docs/environment.md has them
beside what was measured. Times are those of a machine of pace 1 (`pace.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thzsync.feasibility.estimate import Load, floor_bytes, load_of
from thzsync.feasibility.remarks import bursts_per_s
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph, job_graph

if TYPE_CHECKING:
    from thzsync.coordinator import Policy

_START_S: Final = 1.1
_EVENT_S: Final = 7e-4
_NODE_S: Final = 2e-7
_RUN_S: Final = 9e-7
"""A run of chunks in flow fidelity: there are no packets beside it."""
_HOP_S: Final = 6.5e-8
_BURST_S: Final = 2.5e-8
_ROUND_S: Final = 3.5e-5
_TRANSMISSION_S: Final = 2.3e-6
DECIDED_SHARE: Final = 0.4
"""THz share of a policy that decides about every event: 0.25 of All-to-All, 0.9 of P2P."""
# What a learner adds.
_LEARNT_EVENT_S: Final = 1e-3
_LEARNT_FLOW_S: Final = 1e-5
_LEARNT_CHUNK_S: Final = 2e-7
# What a record adds, with its journal and files.
_KEPT_ITERATION_S: Final = 0.02
_KEPT_CHUNK_S: Final = 6.5e-7

_PROCESS_BYTES: Final = 2.1e8
_CHUNK_DISK_BYTES: Final = 4.8
_FLOW_CHUNK_DISK_BYTES: Final = 3.7
"""In flow fidelity: the times of chunks within a run are even, and compress better."""
_LEARNT_EVENT_DISK_BYTES: Final = 200
REFERENCES: Final = 3
"""Iterations of All-Wired that come before a run."""


@dataclass(frozen=True)
class Asked:
    """A run that somebody asks for."""

    scenario: Scenario
    iterations: int
    learns: bool
    kept: bool
    """Whether its record is written to disk."""
    seed: int = 0
    thz_share: float = 0.0
    """Share of the chunks that its policy sends over THz, about."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        policy: Policy,
        iterations: int,
        kept: bool,
        seed: int = 0,
        frozen: bool = False,
    ) -> Asked:
        """A run of this policy, on the methods that it brings along."""
        from thzsync.coordinator import own_scenario

        learns = hasattr(policy, "save") and not frozen
        share = getattr(policy, "thz_share", DECIDED_SHARE)
        return cls(own_scenario(policy, scenario), iterations, learns, kept, seed, share)


@dataclass(frozen=True)
class Effort:
    """What a run takes."""

    decisions: int
    """Of all its iterations; jobs may have numbers of their own."""
    reference_decisions: int
    """Of the references that come before it."""
    seconds: float
    """At pace 1."""
    references_s: float
    """Of the seconds: those of the references, which the runs of a realisation share."""
    memory_bytes: float
    disk_bytes: float


def effort_of(asked: Asked) -> Effort:
    """What a run takes, references included.

    If it is not kept on disk, nobody sees more of it than its summary.
    """
    scenario, learns, kept = asked.scenario, asked.learns, asked.kept
    topology, streams = Topology(scenario.floor), Streams(asked.seed)
    decisions, referred, seconds, references_s, disk_bytes = 0, 0, _START_S, 0.0, 0.0
    memory_bytes = _PROCESS_BYTES + floor_bytes(scenario)
    for job in scenario.jobs:
        graph = job_graph(job, topology, streams)
        load = load_of([graph], scenario)
        own, first = job.iterations or asked.iterations, job.iterations or REFERENCES
        reference_s = _carried_s(scenario, graph, load, 0.0)
        carried_s = _carried_s(scenario, graph, load, asked.thz_share)
        decisions += own * load.events
        referred += first * load.events
        seconds += first * reference_s + own * (carried_s + _decided_s(load, learns, kept))
        references_s += first * reference_s
        memory_bytes += load.carried_bytes + load.record_bytes(own, kept, learns)
        disk_bytes += own * _disk_bytes(scenario, load, learns) if kept else 0.0
    counts = max(1, decisions), max(1, referred)
    return Effort(*counts, seconds, references_s, memory_bytes, disk_bytes)


def _carried_s(scenario: Scenario, graph: TrainingGraph, load: Load, thz_share: float) -> float:
    """Time to simulate an iteration, without what is decided and recorded [s]."""
    node_s = _RUN_S if in_flows(scenario) else _NODE_S
    fibre_s = load.nodes * node_s
    if not in_flows(scenario):
        fibre_s += load.packet_hops * _HOP_S
    seconds = load.events * _EVENT_S + (1 - thz_share) * fibre_s
    if not in_flows(scenario):
        seconds += _bursts(scenario, graph) * _BURST_S
    if thz_share:
        from thzsync.feasibility.air import air_of  # needs the overlay's kernels

        air = air_of(graph.events, scenario)
        seconds += thz_share * (air.rounds * _ROUND_S + air.transmissions * _TRANSMISSION_S)
    return seconds


def _decided_s(load: Load, learns: bool, kept: bool) -> float:
    """Time that learning and recording add to an iteration [s]."""
    added_s = 0.0
    if learns:
        added_s += load.events * _LEARNT_EVENT_S + load.flows * _LEARNT_FLOW_S
        added_s += load.all_chunks * _LEARNT_CHUNK_S
    if kept:
        added_s += _KEPT_ITERATION_S + load.all_chunks * _KEPT_CHUNK_S
    return added_s


def _disk_bytes(scenario: Scenario, load: Load, learns: bool) -> float:
    """What an iteration leaves on disk [bytes]."""
    each = _FLOW_CHUNK_DISK_BYTES if in_flows(scenario) else _CHUNK_DISK_BYTES
    return load.all_chunks * each + (load.events * _LEARNT_EVENT_DISK_BYTES if learns else 0)


def _bursts(scenario: Scenario, graph: TrainingGraph) -> float:
    return graph.critical_path_s() * bursts_per_s(scenario)
