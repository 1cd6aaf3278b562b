"""Checks across tables: whether jobs, faults and the floor fit together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from thzsync.scenario.faults import FibreDegraded, PairBlocked, SubbandJammed

if TYPE_CHECKING:
    from thzsync.scenario.fabric import Floor
    from thzsync.scenario.job import Job
    from thzsync.scenario.scenario import Scenario


def _partition(job: Job, floor: Floor) -> tuple[range, range]:
    """The rings and the lanes of a job."""
    rings = floor.rings - job.first_ring if job.rings is None else job.rings
    lanes = floor.lanes - job.first_lane if job.lanes is None else job.lanes
    return (
        range(job.first_ring, job.first_ring + rings),
        range(job.first_lane, job.first_lane + lanes),
    )


def _shared(first: range, second: range) -> range:
    return range(max(first.start, second.start), min(first.stop, second.stop))


def partition_problems(scenario: Scenario) -> Iterator[str]:
    """Jobs that do not fit on the floor, or that overlap."""
    partitions = [_partition(job, scenario.floor) for job in scenario.jobs]
    for number, (job, (rings, lanes)) in enumerate(zip(scenario.jobs, partitions, strict=True)):
        place, floor = f"jobs.{number}", scenario.floor
        yield from _span_problems(f"{place}: rings", rings, floor.rings, "the floor has rings")
        yield from _span_problems(f"{place}: lanes", lanes, floor.lanes, "a ring has racks")
        for stage in job.training.moe_stages if job.training is not None else ():
            if stage >= len(rings):
                yield (
                    f"{place}.training.moe_stages: stage {stage} does not exist; "
                    f"the job has stages 0..{len(rings) - 1}"
                )
    for first, second in combinations(range(len(partitions)), 2):
        rings, lanes = map(_shared, partitions[first], partitions[second])
        if rings and lanes:
            names = f"job {scenario.jobs[second].name!r} and job {scenario.jobs[first].name!r}"
            yield (
                f"jobs.{second}: {names} both use the rack on ring {rings.start}, "
                f"lane {lanes.start}; partitions must be disjoint"
            )
    if len({job.name for job in scenario.jobs}) < len(scenario.jobs):
        yield "jobs: every job needs a name of its own"


def _span_problems(place: str, span: range, limit: int, known: str) -> Iterator[str]:
    if not span or span.stop > limit:
        found = f"{span.start}..{span.stop - 1}" if span else f"from {span.start} on"
        yield f"{place} {found} but {known} 0..{limit - 1}"


def index_problems(scenario: Scenario) -> Iterator[str]:
    """Racks, rings and subbands that do not exist, but that faults or stragglers name."""
    floor = scenario.floor
    slow_racks = scenario.stragglers.slow_racks
    racks = [(f"stragglers.slow_racks.{k}", slow.rack) for k, slow in enumerate(slow_racks)]
    for k, fault in enumerate(scenario.faults):
        place = f"faults.{k}"
        rack = getattr(fault, "rack", None)
        if rack is not None:
            racks.append((place, rack))
        if isinstance(fault, PairBlocked):
            racks += [(place, r) for r in fault.racks]
        if isinstance(fault, SubbandJammed) and fault.subband >= scenario.thz.subbands:
            yield f"{place}: there is no subband {fault.subband} (0..{scenario.thz.subbands - 1})"
        if isinstance(fault, FibreDegraded) and fault.rings is not None:
            a, b = fault.rings
            if a == b or max(a, b) >= floor.rings:
                yield f"{place}: {a} and {b} must be two different rings of 0..{floor.rings - 1}"
    for place, rack in racks:
        if rack >= floor.racks:
            yield f"{place}: rack {rack} does not exist; the floor has racks 0..{floor.racks - 1}"


def buffer_problems(scenario: Scenario) -> Iterator[str]:
    """A packet between rings must fit into the shared buffer without the racks' reserve."""
    optical = scenario.optical
    reserve = max(round(optical.rack_reserve * optical.shared_buffer_bytes), optical.packet_bytes)
    left = optical.shared_buffer_bytes - reserve
    if scenario.floor.rings > 1 and left < optical.packet_bytes:
        yield (
            f"optical.rack_reserve: {optical.rack_reserve:g} of {optical.shared_buffer_bytes} "
            f"bytes leave {max(left, 0)} for traffic between rings, and a packet has "
            f"{optical.packet_bytes}; lower the reserve or enlarge shared_buffer_bytes"
        )
