"""Whether a scenario can be run here: names that other packages know, files, and size.

The models check what they can see. This is the one place for the rest: every command that takes a
scenario asks here first, so that what ``scenario show`` accepts, ``run`` can start.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from thzsync.arrays import memory_bytes, size_text
from thzsync.collectives import collective_names
from thzsync.coordinator import policy_names
from thzsync.errors import Problems, ThzSyncError
from thzsync.feasibility.estimate import (
    Load,
    bursts_per_s,
    collective_load,
    floor_bytes,
    graph_bytes,
    link_count,
    load_of,
)
from thzsync.network import Network, network_of
from thzsync.scenario import FibreDegraded, NetworkFile, RingNetwork, Scenario, preset_names
from thzsync.scenario.fidelity import in_flows
from thzsync.scenario.units import rate_text
from thzsync.streams import Streams
from thzsync.synthesis import method_names, method_of
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph, job_graph
from thzsync.workload.zoo import ZOO

LONGEST_TASK_S: Final = 1e4
"""As for every duration in a scenario [s]."""
SLOW_BPS: Final = 1e6
MANY_CHUNKS: Final = 1e7
MANY_PACKET_HOPS: Final = 1e10
MANY_BURSTS: Final = 1e9
MANY_FIBRES: Final = 1e5
"""With more of them their queues leave the processor's cache, and every burst takes longer."""


def check_scenario(scenario: Scenario, source: str = "scenario", files: bool = True) -> list[str]:
    """Refuse what cannot be run, all of it at once; remarks on what can, but hardly is meant.

    Without ``files``, those that it names are left to the run, which may take place elsewhere.
    """
    if broken := [*_network_problems(scenario, files)]:
        raise Problems.of(f"{source}: {problem}" for problem in broken)
    too_large = [*_size_problems(scenario)]
    problems = [*_method_problems(scenario), *_rate_problems(scenario), *too_large]
    graphs: list[TrainingGraph] = []
    if not too_large:  # only now may anything be built
        problems += [*_file_problems(scenario)] if files else []
        problems += _graph_problems(scenario, graphs, files)
    load = load_of(graphs, scenario)
    problems += _too_large("jobs", _events_text(load), load.memory_bytes)
    if problems:
        raise Problems.of(f"{source}: {problem}" for problem in problems)
    return [f"{source}: {remark}" for remark in _remarks_on(scenario, load, graphs)]


def check_collective(scenario: Scenario, racks: int, size_bytes: int) -> None:
    """Refuse a collective that would not fit into memory."""
    load = collective_load(scenario, racks, size_bytes)
    for problem in _too_large("--size", _events_text(load), load.memory_bytes):
        raise ThzSyncError(problem)


def _method_problems(scenario: Scenario) -> Iterator[str]:
    collectives = scenario.collectives
    named = [(kind, kind, name) for kind, name in collectives if isinstance(name, str)]
    further = [(f"methods.{kind}", kind, name) for kind, name in collectives.methods.items()]
    for place, kind, name in (*named, *further):
        try:
            method_of(scenario, kind, name)
        except ThzSyncError as error:
            yield f"collectives.{place}: {error}"
    for name in scenario.carriers[1:]:  # the first is always THz
        from thzsync.execution.carrier import find_carrier

        try:
            scenario.parameters_for(find_carrier(name))
        except ThzSyncError as error:
            yield f"carriers: {error}"


def _rate_problems(scenario: Scenario) -> Iterator[str]:
    optical, limit_s = scenario.optical, scenario.collectives.stall_limit_s
    for key in _fibres(scenario):
        rate_bps = getattr(optical, key)
        packet_s = 8 * optical.packet_bytes / rate_bps + optical.switch_delay_s
        if packet_s >= limit_s:
            at = rate_text(rate_bps)
            yield (
                f"optical.{key}: at {at} one packet of {optical.packet_bytes} bytes "
                f"is under way for {packet_s:.4g} s, and collectives.stall_limit_s gives up after "
                f"{limit_s:g} s; {_meant(rate_bps)}"
            )


def _network_problems(scenario: Scenario, files: bool) -> Iterator[str]:
    """Whether the network can be built, passes packets, and has the fibres that faults name."""
    if isinstance(scenario.network, RingNetwork):
        return  # the scenario itself has been checked, and a large one is not built
    if isinstance(scenario.network, NetworkFile) and not files:
        return
    try:
        network = network_of(scenario)
    except ThzSyncError as error:
        yield str(error)
        return
    optical, passing = scenario.optical, network.passing_bytes
    if passing < optical.packet_bytes:
        yield (
            f"optical.shared_buffer_bytes: rack_reserve ({optical.rack_reserve:g}) leaves {passing}"
            f" of {optical.shared_buffer_bytes} bytes to the outputs furthest from the racks, and "
            f"a packet has {optical.packet_bytes}; enlarge the buffer or lower the reserve"
        )
    for number, fault in enumerate(scenario.faults):
        if isinstance(fault, FibreDegraded) and not len(network.degraded_links(fault)):
            a, b = fault.ends or (0, 0)
            yield (
                f"faults.{number}: there is no fibre between switches {a} and {b}; name two "
                f"that are joined, of {_switches(network)}"
            )


def _switches(network: Network) -> str:
    """The numbers of switches, with what the first and the last are called."""
    names, last = network.switch_names, network.switches - 1
    return f"0..{last} ({names[0]} to {names[-1]})"


def _size_problems(scenario: Scenario) -> Iterator[str]:
    yield from _too_large("floor", f"{scenario.floor.racks} racks", floor_bytes(scenario))
    for number, job in enumerate(scenario.jobs):
        what = "its training graph"
        yield from _too_large(f"jobs.{number}", what, graph_bytes(job, scenario.floor))


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
        from thzsync.channel.components import Antennas
        from thzsync.channel.file import load_gains

        thz = scenario.thz
        try:
            load_gains(Path(name), scenario.floor.racks, thz.subbands, Antennas.of(thz))
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


def _remarks_on(scenario: Scenario, load: Load, graphs: list[TrainingGraph]) -> Iterator[str]:
    """One line each: the key, its value, and what was probably meant."""
    yield from _slow_fibres(scenario)
    if scenario.thz.rate.steps():
        from thzsync.feasibility.links import unusable_links  # compiled: not for Shannon's law

        yield from unusable_links(scenario, graphs)
    yield from _odd_times(scenario, graphs)
    yield from _heavy_load(scenario, load, graphs)


def _meant(rate_bps: float) -> str:
    """What a rate that is too low was probably meant to be."""
    return f'did you mean "{rate_bps:g} Gb/s"?' if rate_bps < 1e4 else "is its unit right?"


def _fibres(scenario: Scenario) -> list[str]:
    """The keys of the fibres that this floor has."""
    return (
        ["access_bps", "inter_bps"]
        if scenario.floor.groups > 1 and isinstance(scenario.network, RingNetwork)
        else ["access_bps"]
    )


def _slow_fibres(scenario: Scenario) -> Iterator[str]:
    for key in _fibres(scenario):
        rate_bps = getattr(scenario.optical, key)
        if rate_bps < SLOW_BPS:
            yield f"optical.{key} is {rate_text(rate_bps)}; {_meant(rate_bps)}"


def _odd_times(scenario: Scenario, graphs: list[TrainingGraph]) -> Iterator[str]:
    thz, limit_s = scenario.thz, scenario.collectives.stall_limit_s
    compute_s = max((graph.critical_path_s() for graph in graphs), default=float("inf"))
    if thz.guard_s > max(compute_s, 1e-3):
        yield (
            f"thz.round_overhead_s + thz.antenna.steering_s is {thz.guard_s:g} s, longer than an "
            f"iteration computes ({compute_s:.3g} s); every round begins with it: did you mean us?"
        )
    if thz.fallback_timeout_s >= limit_s:
        yield (
            f"thz.fallback_timeout_s ({thz.fallback_timeout_s:g} s) is not below "
            f"collectives.stall_limit_s ({limit_s:g} s): where THz links fail, the run will end "
            f"before it falls back to fibre"
        )


def _heavy_load(scenario: Scenario, load: Load, graphs: list[TrainingGraph]) -> Iterator[str]:
    if load.largest_chunks > MANY_CHUNKS:
        yield (
            f"collectives.chunk_bytes is {scenario.collectives.chunk_bytes}, which cuts an event "
            f"into {load.largest_chunks:.2g} chunks; did you mean larger chunks or smaller events?"
        )
    if not in_flows(scenario) and load.packet_hops > MANY_PACKET_HOPS:
        yield (
            f"jobs: an iteration sends up to {load.packet_hops:.2g} packets over a fibre, which "
            f'takes long; use optical.fidelity = "flow", or smaller events'
        )
    longest_s = _longest_s(scenario, graphs)
    bursts = longest_s * bursts_per_s(scenario)
    outputs = link_count(scenario) - scenario.floor.racks
    if not in_flows(scenario) and bursts * max(1.0, outputs / MANY_FIBRES) > MANY_BURSTS:
        yield (
            f"optical.background: up to {bursts:.2g} bursts in the {longest_s:.3g} s of an "
            f"iteration take long; use a lower load, larger bursts or shorter delays"
        )


def _longest_s(scenario: Scenario, graphs: list[TrainingGraph]) -> float:
    """About how long an iteration may last if its stragglers delay every event [s]."""
    stragglers = scenario.stragglers
    delays_s = [slow.delay_s for slow in stragglers.slow_racks]
    delay_s = max(delays_s, default=0.0) + (
        stragglers.max_delay_s if stragglers.probability else 0.0
    )
    return max((g.critical_path_s() + len(g.events) * delay_s for g in graphs), default=0.0)


def known_names() -> dict[str, list[str]]:
    """Every name that a scenario or a command may use, by what it names."""
    return {
        "presets": preset_names(),
        "models": list(ZOO),
        "collectives": collective_names(),
        **{f"{kind} methods": method_names(kind) for kind in collective_names()},
        "policies": policy_names(),
    }
