"""Checks across tables: whether jobs, faults and the floor fit together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from thzsync.scenario.faults import FibreDegraded, PairBlocked, SubbandJammed

if TYPE_CHECKING:
    from thzsync.scenario.fabric import Floor
    from thzsync.scenario.job import Job
    from thzsync.scenario.scenario import Scenario


class _Area(NamedTuple):
    """The rings and lanes of a job's partition, as half-open spans."""

    first_ring: int
    end_ring: int
    first_lane: int
    end_lane: int

    @staticmethod
    def of(job: Job, floor: Floor) -> _Area:
        rings = floor.rings - job.first_ring if job.rings is None else job.rings
        lanes = floor.lanes - job.first_lane if job.lanes is None else job.lanes
        return _Area(job.first_ring, job.first_ring + rings, job.first_lane, job.first_lane + lanes)

    def shared(self, other: _Area) -> _Area:
        return _Area(
            max(self.first_ring, other.first_ring),
            min(self.end_ring, other.end_ring),
            max(self.first_lane, other.first_lane),
            min(self.end_lane, other.end_lane),
        )

    @property
    def empty(self) -> bool:
        return self.end_ring <= self.first_ring or self.end_lane <= self.first_lane


def partition_problems(scenario: Scenario) -> Iterator[str]:
    """Jobs that do not fit on the floor, or that overlap."""
    areas = [_Area.of(job, scenario.floor) for job in scenario.jobs]
    for number, (job, area) in enumerate(zip(scenario.jobs, areas, strict=True)):
        yield from _floor_problems(f"jobs.{number}", area, scenario.floor)
        if job.training is not None:
            stages = area.end_ring - area.first_ring
            for stage in job.training.moe_stages:
                if stage >= stages:
                    yield (
                        f"jobs.{number}.training.moe_stages: stage {stage} does not exist; "
                        f"the job has stages 0..{stages - 1}"
                    )
    for first, second in combinations(range(len(areas)), 2):
        shared = areas[first].shared(areas[second])
        if not shared.empty:
            names = f"job {scenario.jobs[second].name!r} and job {scenario.jobs[first].name!r}"
            yield (
                f"jobs.{second}: {names} both use the rack on ring {shared.first_ring}, "
                f"lane {shared.first_lane}; partitions must be disjoint"
            )
    if len({job.name for job in scenario.jobs}) < len(scenario.jobs):
        yield "jobs: every job needs a name of its own"


def _floor_problems(place: str, area: _Area, floor: Floor) -> Iterator[str]:
    spans = (
        ("rings", area.first_ring, area.end_ring, f"the floor has rings 0..{floor.rings - 1}"),
        ("lanes", area.first_lane, area.end_lane, f"a ring has racks 0..{floor.lanes - 1}"),
    )
    limits = (floor.rings, floor.lanes)
    for (noun, first, end, known), limit in zip(spans, limits, strict=True):
        if end <= first or end > limit:
            span = f"{first}..{end - 1}" if end > first else f"from {first} on"
            yield f"{place}: {noun} {span} but {known}"


def index_problems(scenario: Scenario) -> Iterator[str]:
    """Racks, rings and subbands that do not exist, but that faults or stragglers name."""
    floor = scenario.floor
    racks = [
        (f"stragglers.slow_racks.{k}", slow.rack)
        for k, slow in enumerate(scenario.stragglers.slow_racks)
    ]
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
