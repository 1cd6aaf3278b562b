"""About how long a run takes, and how much memory and disk, worked out before it starts.

The costs were fitted to runs of `tiny`, `paper`, a llama3-70b, a mixtral-8x7b and `pod-1024`, in
packets and in flows, under policies that use fibre, THz and both; docs/environment.md has them
beside what was measured. Times are those of a machine of pace 1 (`pace.py`).
"""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from thzsync.arrays import memory_bytes, size_text
from thzsync.display import counted
from thzsync.errors import ThzSyncError
from thzsync.feasibility.estimate import Load, bursts_per_s, floor_bytes, load_of
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows, needs_packets
from thzsync.streams import Streams
from thzsync.synthesis import Setting, find_method, method_names
from thzsync.topology import Topology
from thzsync.workload import Event, TrainingGraph, job_graph

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
DOUBT: Final = 1.2
"""An estimate may be too large by this; only what is larger still is refused."""
COPIES: Final = 2
"""The journal of a run stays until its record is complete."""
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
        from thzsync.coordinator import LearningPolicy, own_scenario

        learns = isinstance(policy, LearningPolicy) and not frozen
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
        references_s += first * reference_s
        seconds += first * reference_s + own * carried_s
        memory_bytes += load.carried_bytes + load.record_bytes(own, kept, learns)
        if learns:
            learnt_s = load.events * _LEARNT_EVENT_S + load.flows * _LEARNT_FLOW_S
            seconds += own * (learnt_s + load.all_chunks * _LEARNT_CHUNK_S)
        if kept:
            each = _FLOW_CHUNK_DISK_BYTES if in_flows(scenario) else _CHUNK_DISK_BYTES
            seconds += own * (_KEPT_ITERATION_S + load.all_chunks * _KEPT_CHUNK_S)
            disk_bytes += own * load.all_chunks * each
            disk_bytes += own * load.events * _LEARNT_EVENT_DISK_BYTES if learns else 0.0
    counts = max(1, decisions), max(1, referred)
    return Effort(*counts, seconds, references_s, memory_bytes, disk_bytes)


def _carried_s(scenario: Scenario, graph: TrainingGraph, load: Load, thz_share: float) -> float:
    """Time to simulate an iteration, without what is decided and recorded [s]."""
    seconds = load.events * _EVENT_S
    if in_flows(scenario):
        seconds += (1 - thz_share) * load.nodes * _RUN_S
    else:
        seconds += (1 - thz_share) * (load.nodes * _NODE_S + load.packet_hops * _HOP_S)
        seconds += graph.critical_path_s() * bursts_per_s(scenario) * _BURST_S
    if thz_share:
        seconds += thz_share * _on_thz_s(graph.events, scenario)
    return seconds


def _on_thz_s(events: Iterable[Event], scenario: Scenario) -> float:
    """Time to form all rounds and transmissions if THz carried all of some events [s].

    In flow fidelity they decide how long a run takes: fibres follow whole runs of chunks, while
    some disciplines send every chunk by itself. Events of one shape and size are alike.
    """
    known: dict[tuple[object, ...], float] = {}
    seconds = 0.0
    for event in events:
        key = (event.kind, len(event.racks), event.payload_bytes)
        if key not in known:
            known[key] = _event_on_thz_s(event, scenario)
        seconds += known[key]
    return seconds


def _event_on_thz_s(event: Event, scenario: Scenario) -> float:
    """Of one event, by what its method plans and its disciplines declare [s]."""
    from thzsync.wireless.discipline import find_discipline  # needs the overlay's kernels

    name = scenario.collectives.method(event.kind) or method_names(event.kind)[0]
    setting = Setting.flat(len(event.racks), scenario.thz)
    chunk_bytes = scenario.collectives.chunk_bytes
    offer = find_method(event.kind, name).offer(event.demand, event.racks, chunk_bytes, setting)
    graph = offer.lower(offer.chunks)
    width, seconds = scenario.thz.chains * len(event.racks) / 2, 0.0
    for number, name in enumerate(graph.disciplines):
        discipline = find_discipline(name)
        # Flows that wait for their turn join ready chunks, unless turning costs them nothing.
        joined = graph.bundled | (not discipline.common and not discipline.steers)
        sent = np.where(joined, graph.thz_chunks > 0, graph.thz_chunks)
        transmissions = float(sent[graph.discipline == number].sum())
        rounds = transmissions / (width if discipline.common else 1)
        seconds += rounds * _ROUND_S + transmissions * _TRANSMISSION_S
    return seconds


def check_memory(asked: Asked, effort: Effort) -> None:
    """Refuse a run that surely does not fit into memory, with what would."""
    here = memory_bytes()
    if effort.memory_bytes <= DOUBT * here:
        return
    remedies = _remedies(asked, here) or ["fewer racks", "larger chunks"]
    raise ThzSyncError(
        f"{asked.scenario.name}: {counted(asked.iterations, 'iteration')} would take about "
        f"{size_text(effort.memory_bytes)} of memory and this machine has {size_text(here)}; "
        f"use {' or '.join(remedies)}"
    )


def scarce_disk(effort: Effort, folder: str | Path) -> str | None:
    """What to say if the record hardly fits into the folder's disk."""
    there = Path(folder).absolute()
    while not there.exists():
        there = there.parent
    free, needed = shutil.disk_usage(there).free, COPIES * effort.disk_bytes
    if free >= needed:
        return None
    return (
        f"warning: {folder}: {size_text(free)} are free, and writing the record takes about "
        f"{size_text(needed)}; use fewer iterations or another disk"
    )


def _remedies(asked: Asked, here: int) -> list[str]:
    """Changes by which the run fits."""
    found = []
    if fewer := _fitting_iterations(asked, here):
        found.append(f"at most {counted(fewer, 'iteration')}")
    if asked.kept and _fits(replace(asked, kept=False), here):
        found.append("no --out")
    scenario = asked.scenario
    flows = scenario.with_(optical__fidelity="flow")
    if not in_flows(scenario) and needs_packets(scenario) is None:
        found += ["--set optical.fidelity=flow"] * _fits(replace(asked, scenario=flows), here)
    return found


def _fitting_iterations(asked: Asked, here: int) -> int:
    """The most that fit."""

    def too_many(iterations: int) -> bool:
        return not _fits(replace(asked, iterations=iterations), here)

    return bisect_left(range(1, asked.iterations), True, key=too_many)


def _fits(asked: Asked, here: int) -> bool:
    return effort_of(asked).memory_bytes <= here
