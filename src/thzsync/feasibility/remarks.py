"""What is possible in a scenario but hardly meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from thzsync.feasibility.estimate import Load
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.scenario.units import rate_text
from thzsync.workload import TrainingGraph

SLOW_BPS: Final = 1e6
MANY_CHUNKS: Final = 1e7
MANY_PACKET_HOPS: Final = 1e10
MANY_BURSTS: Final = 1e9
MANY_FIBRES: Final = 1e5
"""With more of them their queues leave the processor's cache, and every burst takes longer."""


def remarks_on(scenario: Scenario, load: Load, graphs: list[TrainingGraph]) -> Iterator[str]:
    """One line each: the key, its value, and what was probably meant."""
    yield from _slow_fibres(scenario)
    yield from _odd_times(scenario, graphs)
    yield from _heavy_load(scenario, load, graphs)


def meant(rate_bps: float) -> str:
    """What a rate that is too low was probably meant to be."""
    return f'did you mean "{rate_bps:g} Gb/s"?' if rate_bps < 1e4 else "is its unit right?"


def fibres(scenario: Scenario) -> list[str]:
    """The keys of the fibres that this floor has."""
    return ["access_bps", "inter_bps"] if scenario.floor.rings > 1 else ["access_bps"]


def _slow_fibres(scenario: Scenario) -> Iterator[str]:
    for key in fibres(scenario):
        rate_bps = getattr(scenario.optical, key)
        if rate_bps < SLOW_BPS:
            yield f"optical.{key} is {rate_text(rate_bps)}; {meant(rate_bps)}"


def _odd_times(scenario: Scenario, graphs: list[TrainingGraph]) -> Iterator[str]:
    thz, limit_s = scenario.thz, scenario.collectives.stall_limit_s
    compute_s = max((graph.critical_path_s() for graph in graphs), default=float("inf"))
    if thz.round_overhead_s > max(compute_s, 1e-3):
        yield (
            f"thz.round_overhead_s is {thz.round_overhead_s:g} s, longer than an iteration computes"
            f" ({compute_s:.3g} s); it is owed by every round: did you mean us?"
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
    floor = scenario.floor
    outputs = floor.racks + floor.rings * (floor.rings - 1)
    if not in_flows(scenario) and bursts * max(1.0, outputs / MANY_FIBRES) > MANY_BURSTS:
        yield (
            f"optical.background: up to {bursts:.2g} bursts in the {longest_s:.3g} s of an "
            f"iteration take long; use a lower load, larger bursts or shorter delays"
        )


def _longest_s(scenario: Scenario, graphs: list[TrainingGraph]) -> float:
    """About how long an iteration may last if its late racks hold up every event [s]."""
    late = scenario.stragglers
    delays_s = [slow.delay_s for slow in late.slow_racks]
    delay_s = max(delays_s, default=0.0) + (late.max_delay_s if late.probability else 0.0)
    return max((g.critical_path_s() + len(g.events) * delay_s for g in graphs), default=0.0)


def bursts_per_s(scenario: Scenario) -> float:
    """Packets or bursts of background traffic per simulated second, on all fibres [1/s]."""
    optical, floor = scenario.optical, scenario.floor
    rate_bps = (
        floor.racks * optical.access_bps + floor.rings * (floor.rings - 1) * optical.inter_bps
    )
    size_bytes = min(optical.background.burst_bytes, optical.packet_bytes)
    return optical.background.load * rate_bps / (8 * size_bytes)
