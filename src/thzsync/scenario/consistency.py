"""Checks across tables: whether jobs, faults and the floor fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from thzsync.errors import ThzSyncError
from thzsync.plugins import blamed
from thzsync.registry import BUILT_IN
from thzsync.scenario.antennas import ANTENNAS, pattern_problem
from thzsync.scenario.fabric import AIR_BAND_HZ
from thzsync.scenario.faults import FibreDegraded, PairBlocked, SubbandJammed
from thzsync.scenario.floor import FLOORS, refuse_too_near
from thzsync.scenario.kinds import Kinds
from thzsync.scenario.network import RingNetwork
from thzsync.scenario.rates import RATE_LAWS, step_problem

if TYPE_CHECKING:
    from thzsync.scenario.floor import FloorKind
    from thzsync.scenario.job import Job
    from thzsync.scenario.scenario import Scenario


def _spans(job: Job, floor: FloorKind) -> tuple[range, range]:
    """The groups (rings or rows) and the lanes of a job."""
    groups = floor.groups - job.first_ring if job.rings is None else job.rings
    lanes = floor.lanes - job.first_lane if job.lanes is None else job.lanes
    return (
        range(job.first_ring, job.first_ring + groups),
        range(job.first_lane, job.first_lane + lanes),
    )


def floor_problems(scenario: Scenario) -> Iterator[str]:
    """What is wrong with the floor of a plug-in; those that come with the package check theirs."""
    yield from _of_plugin(FLOORS, scenario.floor, "floor", _floor_problem)


def radio_problems(scenario: Scenario) -> Iterator[str]:
    """What is wrong with the rate law and the antenna of a plug-in."""
    thz = scenario.thz
    gains_dbi = thz.transmit_gain_db, thz.receive_gain_db
    yield from _of_plugin(RATE_LAWS, thz.rate, "thz.rate", step_problem)
    yield from _of_plugin(
        ANTENNAS, thz.antenna, "thz.antenna", partial(pattern_problem, gains_dbi=gains_dbi)
    )


def _of_plugin(
    kinds: Kinds, section: Any, place: str, problem_of: Callable[[Any], str | None]
) -> Iterator[str]:
    """What is wrong with a section whose kind does not come with the package."""
    if kinds.origin(section.kind) == BUILT_IN:
        return
    place = f"{place}: kind {section.kind!r}"
    try:
        with blamed(place):
            problem = problem_of(section)
    except ThzSyncError as error:
        yield str(error)
    else:
        if problem:
            yield f"{place}: {problem}"


def _floor_problem(floor: FloorKind) -> str | None:
    groups, lanes, places_m = floor.groups, floor.lanes, floor.places_m
    if min(groups, lanes) < 1 or len(places_m) != groups * lanes:
        return f"has {len(places_m)} places for {groups} x {lanes} racks"
    try:
        refuse_too_near(places_m)
    except ValueError as error:
        return str(error)
    return None


def partition_problems(scenario: Scenario) -> Iterator[str]:
    """Jobs that do not fit on the floor, or that overlap."""
    floor = scenario.floor
    for number, job in enumerate(scenario.jobs):
        place = f"jobs.{number}"
        groups, lanes = _spans(job, floor)
        stages = len(groups) if job.stages is None else len(job.stages)
        if job.stages is not None:
            yield from _listed(place, job, floor.racks)
        else:
            noun = floor.noun
            yield from _outside(f"{place}: {noun}s", groups, floor.groups, f"the floor has {noun}s")
            yield from _outside(f"{place}: lanes", lanes, floor.lanes, f"a {noun} has racks")
        for stage in job.training.moe_stages if job.training is not None else ():
            if stage >= stages:
                yield (
                    f"{place}.training.moe_stages: stage {stage} does not exist; "
                    f"the job has stages 0..{stages - 1}"
                )
    for first, second in combinations(range(len(scenario.jobs)), 2):
        a, b = scenario.jobs[first], scenario.jobs[second]
        if shared := _shared(a, b, floor):
            names = f"job {b.name!r} and job {a.name!r}"
            yield f"jobs.{second}: {names} both use {shared}; partitions must be disjoint"
    if len({job.name for job in scenario.jobs}) < len(scenario.jobs):
        yield "jobs: every job needs a name of its own"


def _shared(a: Job, b: Job, floor: FloorKind) -> str:
    """A rack that two jobs use; empty if there is none."""
    if a.stages is None and b.stages is None:
        groups, lanes = (
            range(max(x.start, y.start), min(x.stop, y.stop))
            for x, y in zip(_spans(a, floor), _spans(b, floor), strict=True)
        )
        known = groups and lanes
        return f"the rack on {floor.noun} {groups.start}, lane {lanes.start}" if known else ""
    listed, other = (a, b) if a.stages is not None else (b, a)
    for rack in (rack for stage in listed.stages or () for rack in stage):
        if _uses(other, rack, floor):
            return f"rack {rack}"
    return ""


def _uses(job: Job, rack: int, floor: FloorKind) -> bool:
    if job.stages is not None:
        return any(rack in stage for stage in job.stages)
    groups, lanes = _spans(job, floor)
    return rack // floor.lanes in groups and rack % floor.lanes in lanes


def _listed(place: str, job: Job, racks: int) -> Iterator[str]:
    """What is wrong with listed stages."""
    stages = job.stages or ()
    named = [rack for stage in stages for rack in stage]
    if len({len(stage) for stage in stages}) > 1 or not named:
        yield f"{place}.stages: every stage needs equally many racks, and at least one"
    if len(set(named)) < len(named):
        yield f"{place}.stages: a rack is listed twice; list each once"
    if named and max(named) >= racks:
        known = f"the floor has racks 0..{racks - 1}"
        yield f"{place}.stages: rack {max(named)} does not exist; {known}"
    if (job.first_ring, job.rings, job.first_lane, job.lanes) != (0, None, 0, None):
        yield f"{place}: give either stages or rings and lanes, not both"


def _outside(place: str, span: range, limit: int, known: str) -> Iterator[str]:
    if not span or span.stop > limit:
        found = f"{span.start}..{span.stop - 1}" if span else f"from {span.start} on"
        yield f"{place} {found} but {known} 0..{limit - 1}"


def index_problems(scenario: Scenario) -> Iterator[str]:
    """Racks, rings, subbands and carriers that are named, but do not exist."""
    floor, names = scenario.floor, scenario.carriers
    if names[0] != "thz" or len({*names, "fibre"}) <= len(names):
        yield f'carriers: found {", ".join(names)}; name "thz" first and every other one once'
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
        if isinstance(fault, FibreDegraded) and fault.ends is not None:
            a, b = fault.ends
            ringed = isinstance(scenario.network, RingNetwork)
            if ringed and (a == b or max(a, b) >= floor.groups):
                noun = floor.noun
                last = floor.groups - 1
                yield f"{place}: {a} and {b} must be two different {noun}s of 0..{last}"
    for place, rack in racks:
        if rack >= floor.racks:
            yield f"{place}: rack {rack} does not exist; the floor has racks 0..{floor.racks - 1}"


def buffer_problems(scenario: Scenario) -> Iterator[str]:
    """A packet between rings must fit into the shared buffer without the racks' reserve.

    Of networks with more levels, `thzsync.feasibility` checks the same.
    """
    if not isinstance(scenario.network, RingNetwork):
        return
    optical = scenario.optical
    reserve = max(round(optical.rack_reserve * optical.shared_buffer_bytes), optical.packet_bytes)
    left = optical.shared_buffer_bytes - reserve
    if scenario.floor.groups > 1 and left < optical.packet_bytes:
        yield (
            f"optical.rack_reserve: {optical.rack_reserve:g} of {optical.shared_buffer_bytes} "
            f"bytes leave {max(left, 0)} for traffic between rings, and a packet has "
            f"{optical.packet_bytes}; lower the reserve or enlarge shared_buffer_bytes"
        )


def air_problems(scenario: Scenario) -> Iterator[str]:
    """Subbands outside the table of absorption."""
    channel = scenario.channel
    if channel.absorption == "none" or channel.gains_file is not None:
        return
    centres_ghz = [centre_hz / 1e9 for centre_hz in scenario.thz.centres_hz]
    low, high = (end_hz / 1e9 for end_hz in AIR_BAND_HZ)
    if centres_ghz[0] < low or centres_ghz[-1] > high:
        yield (
            f"channel.absorption: the table reaches from {low:g} to {high:g} GHz and subbands are "
            f"centred at {centres_ghz[0]:g} to {centres_ghz[-1]:g} GHz; move thz.band_start_hz or "
            'use "none"'
        )
