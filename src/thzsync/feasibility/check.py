"""Whether a scenario can be run here: names that other rooms know, files, and size.

The models check what they can see. This is the one place for the rest: every command that takes a
scenario asks here first, so that what ``scenario show`` accepts, ``run`` can start.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from thzsync.arrays import memory_bytes, size_text
from thzsync.errors import Problems, ThzSyncError
from thzsync.feasibility.estimate import Load, collective_load, floor_bytes, graph_bytes, load_of
from thzsync.feasibility.remarks import fibres, meant, remarks_on
from thzsync.scenario import Scenario
from thzsync.scenario.units import rate_text
from thzsync.streams import Streams
from thzsync.synthesis import find_method
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph, job_graph

LONGEST_TASK_S: Final = 1e4
"""As for every duration in a scenario [s]."""


def check_scenario(scenario: Scenario, source: str = "scenario", files: bool = True) -> list[str]:
    """Refuse what cannot be run, all of it at once; remarks on what can, but hardly is meant.

    Without ``files``, those that it names are left to the run, which may take place elsewhere.
    """
    too_large = [*_size_problems(scenario)]
    problems = [*_method_problems(scenario), *_rate_problems(scenario), *too_large]
    graphs: list[TrainingGraph] = []
    if not too_large:  # only now may anything be built
        problems += [*_file_problems(scenario)] if files else []
        problems += _graph_problems(scenario, graphs, files)
    load = load_of(graphs, scenario)
    problems += _load_problems(load)
    if problems:
        raise Problems.of(f"{source}: {problem}" for problem in problems)
    return [f"{source}: {remark}" for remark in remarks_on(scenario, load, graphs)]


def check_collective(scenario: Scenario, racks: int, size_bytes: int) -> None:
    """Refuse a collective that would not fit into memory."""
    load = collective_load(scenario, racks, size_bytes)
    for problem in _too_large("--size", _events_text(load), load.memory_bytes):
        raise ThzSyncError(problem)


def _method_problems(scenario: Scenario) -> Iterator[str]:
    collectives = scenario.collectives
    named = {kind: name for kind, name in collectives if isinstance(name, str)}
    further = {f"methods.{kind}": (kind, name) for kind, name in collectives.methods.items()}
    for place, (kind, name) in {**{k: (k, n) for k, n in named.items()}, **further}.items():
        try:
            find_method(kind, name)
        except ThzSyncError as error:
            yield f"collectives.{place}: {error}"


def _rate_problems(scenario: Scenario) -> Iterator[str]:
    optical, limit_s = scenario.optical, scenario.collectives.stall_limit_s
    for key in fibres(scenario):
        rate_bps = getattr(optical, key)
        packet_s = 8 * optical.packet_bytes / rate_bps + optical.switch_delay_s
        if packet_s >= limit_s:
            at = rate_text(rate_bps)
            yield (
                f"optical.{key}: at {at} one packet of {optical.packet_bytes} bytes "
                f"is under way for {packet_s:.4g} s, and collectives.stall_limit_s gives up after "
                f"{limit_s:g} s; {meant(rate_bps)}"
            )


def _size_problems(scenario: Scenario) -> Iterator[str]:
    yield from _too_large("floor", f"{scenario.floor.racks} racks", floor_bytes(scenario))
    for number, job in enumerate(scenario.jobs):
        what = "its training graph"
        yield from _too_large(f"jobs.{number}", what, graph_bytes(job, scenario.floor))


def _load_problems(load: Load) -> Iterator[str]:
    yield from _too_large("jobs", _events_text(load), load.memory_bytes)


def _events_text(load: Load) -> str:
    return f"an event of {load.largest_chunks:.3g} chunks among {load.widest} racks"


def _too_large(place: str, what: str, needed_bytes: float) -> Iterator[str]:
    here = memory_bytes()
    if needed_bytes > here:
        yield (
            f"{place}: {what} would take about {size_text(needed_bytes)} of memory and this "
            f"machine has {size_text(here)}; use fewer racks, smaller events or larger chunks"
        )


def _file_problems(scenario: Scenario) -> Iterator[str]:
    name = scenario.channel.gains_file
    if name is not None:
        from thzsync.channel.file import load_gains

        try:
            load_gains(Path(name), scenario.floor.racks, scenario.thz.subbands)
        except ThzSyncError as error:
            yield f"channel.gains_file: {error}"


def _graph_problems(scenario: Scenario, graphs: list[TrainingGraph], files: bool) -> Iterator[str]:
    """Build every job's first iteration into ``graphs``."""
    topology, streams = Topology(scenario.floor), Streams(0)
    for number, job in enumerate(scenario.jobs):
        if job.trace is not None and not files:
            continue
        try:
            graph = job_graph(job, topology, streams)
        except ThzSyncError as error:
            yield f"jobs.{number}: {error}"
            continue
        longest_s = max((task.duration_s for task in graph.computes), default=0.0)
        if longest_s > LONGEST_TASK_S:
            yield (
                f"jobs.{number}: a compute task would last {longest_s:.3g} s; the longest that is "
                f"simulated is {LONGEST_TASK_S:g} s"
            )
        graphs.append(graph)
