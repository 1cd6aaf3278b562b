"""The scenario: everything a run depends on, apart from the seed and the policy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import model_validator

from thzsync.scenario.base import Model
from thzsync.scenario.fabric import Channel, Floor, Optical, Thz
from thzsync.scenario.faults import Fault, FibreDegraded, PairBlocked, SubbandJammed
from thzsync.scenario.job import Collectives, Coordinator, Job, Reward, Stragglers


class Scenario(Model):
    """A data centre, the jobs on it, and what happens to both."""

    name: str = "scenario"
    """Name in tables and records."""
    floor: Floor
    """Where the racks stand."""
    optical: Optical = Optical()
    """The packet fabric."""
    thz: Thz = Thz()
    """The THz transceivers."""
    channel: Channel = Channel()
    """THz propagation."""
    collectives: Collectives = Collectives()
    """How events are cut and carried out."""
    stragglers: Stragglers = Stragglers()
    """Compute stragglers."""
    reward: Reward = Reward()
    """The objective's weights."""
    coordinator: Coordinator = Coordinator()
    """The action space."""
    jobs: tuple[Job, ...] = ()
    """Training jobs on disjoint partitions."""
    faults: tuple[Fault, ...] = ()
    """Scheduled faults."""

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Read a TOML file, or a preset by its name."""
        from thzsync.scenario.files import load_scenario

        return load_scenario(path)

    @classmethod
    def preset(cls, name: str) -> Scenario:
        """One of the presets that come with the package."""
        from thzsync.scenario.files import load_preset

        return load_preset(name)

    @classmethod
    def paper(cls) -> Scenario:
        """The paper's 32 racks on 4 rings."""
        return cls.preset("paper")

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Scenario:
        """A variant, validated like a file: ``with_({"thz.subbands": 8})``.

        As keywords, dots are written as two underscores: ``with_(thz__subbands=8)``.
        """
        from thzsync.scenario.changes import changed

        dotted = {key.replace("__", "."): value for key, value in more.items()}
        return changed(self, {**(changes or {}), **dotted}, f"scenario {self.name}")

    def to_toml(self) -> str:
        """The resolved scenario as TOML that loads to an equal scenario."""
        from thzsync.scenario.files import dump_toml

        return dump_toml(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the resolved scenario, for provenance."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


def _problems(scenario: Scenario) -> Iterator[str]:
    yield from _partition_problems(scenario)
    yield from _index_problems(scenario)


def _partition_problems(scenario: Scenario) -> Iterator[str]:
    floor = scenario.floor
    owner: dict[tuple[int, int], str] = {}
    for number, job in enumerate(scenario.jobs):
        rings = floor.rings - job.first_ring if job.rings is None else job.rings
        lanes = floor.lanes - job.first_lane if job.lanes is None else job.lanes
        if rings < 1 or job.first_ring + rings > floor.rings:
            yield (
                f"jobs.{number}: rings {job.first_ring}..{job.first_ring + rings - 1} "
                f"but the floor has rings 0..{floor.rings - 1}"
            )
        if lanes < 1 or job.first_lane + lanes > floor.lanes:
            yield (
                f"jobs.{number}: lanes {job.first_lane}..{job.first_lane + lanes - 1} "
                f"but a ring has racks 0..{floor.lanes - 1}"
            )
        for ring in range(job.first_ring, job.first_ring + rings):
            for lane in range(job.first_lane, job.first_lane + lanes):
                other = owner.setdefault((ring, lane), job.name)
                if other != job.name:
                    yield (
                        f"jobs.{number}: job {job.name!r} and job {other!r} both use the rack on "
                        f"ring {ring}, lane {lane}; partitions must be disjoint"
                    )
        if job.training is not None:
            for stage in job.training.moe_stages:
                if stage >= rings:
                    yield (
                        f"jobs.{number}.training.moe_stages: stage {stage} does not exist; "
                        f"the job has stages 0..{rings - 1}"
                    )
    names = [job.name for job in scenario.jobs]
    if len(set(names)) < len(names):
        yield "jobs: every job needs a name of its own"


def _index_problems(scenario: Scenario) -> Iterator[str]:
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
