"""The floor: rings, racks, distances and partitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.scenario import Floor, Job, Scenario


@dataclass(frozen=True, eq=False)
class Partition:
    """The fan-ring that one job owns: one stage per ring, one replica per lane."""

    job: str
    racks: IntArray
    """Global rack index by (stage, lane)."""

    @property
    def stages(self) -> int:
        """Pipeline stages, one per ring."""
        return int(self.racks.shape[0])

    @property
    def lanes(self) -> int:
        """Data-parallel replicas, one per rack of a ring."""
        return int(self.racks.shape[1])


@dataclass(frozen=True)
class Topology:
    """Where racks stand.

    Rack ``i`` stands on ring ``i // lanes`` and lane ``i % lanes``, both from 0.
    """

    floor: Floor

    @property
    def racks(self) -> int:
        """Number of racks."""
        return self.floor.racks

    @property
    def rings(self) -> int:
        """Number of rings, each with one switch."""
        return self.floor.rings

    @property
    def lanes(self) -> int:
        """Racks per ring."""
        return self.floor.lanes

    @cached_property
    def ring_of_rack(self) -> IntArray:
        """Ring of every rack."""
        return np.arange(self.racks, dtype=np.int64) // self.lanes

    @cached_property
    def lane_of_rack(self) -> IntArray:
        """Lane of every rack."""
        return np.arange(self.racks, dtype=np.int64) % self.lanes

    @cached_property
    def radius_m(self) -> FloatArray:
        """Radius of every ring, rho_s = rho_0 + s * drho with s = 1..S [m]."""
        steps = np.arange(1, self.rings + 1, dtype=np.float64)
        return self.floor.inner_radius_m + steps * self.floor.ring_spacing_m

    @cached_property
    def position_m(self) -> FloatArray:
        """Cartesian rack positions, one row per rack [m]."""
        angle = 2 * np.pi * self.lane_of_rack / self.floor.slots_per_ring
        radius = self.radius_m[self.ring_of_rack]
        return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))

    @cached_property
    def _cosine(self) -> FloatArray:
        """Of the angle between racks so many slots apart, the same digits on all processors."""
        slots = self.floor.slots_per_ring
        return np.array([math.cos(2 * math.pi * apart / slots) for apart in range(self.lanes)])

    def distance_m(self, i: int | IntArray, j: int | IntArray) -> FloatArray:
        """Distance between racks [m] (eq:rack_distance)."""
        i, j = np.asarray(i), np.asarray(j)
        a, b = self.radius_m[self.ring_of_rack[i]], self.radius_m[self.ring_of_rack[j]]
        slots = self.lane_of_rack[i] - self.lane_of_rack[j]
        cosine = self._cosine[np.abs(slots)]
        squared: FloatArray = np.maximum(a**2 + b**2 - 2 * a * b * cosine, 0.0)
        return np.sqrt(np.where(i == j, 0.0, squared))

    def partition(self, job: Job) -> Partition:
        """The racks of a job by stage and lane."""
        rings = self.rings - job.first_ring if job.rings is None else job.rings
        lanes = self.lanes - job.first_lane if job.lanes is None else job.lanes
        ring = job.first_ring + np.arange(rings, dtype=np.int64)
        lane = job.first_lane + np.arange(lanes, dtype=np.int64)
        if rings < 1 or lanes < 1 or ring[-1] >= self.rings or lane[-1] >= self.lanes:
            raise ThzSyncError(
                f"job {job.name!r}: its partition leaves the floor, which has rings "
                f"0..{self.rings - 1} and lanes 0..{self.lanes - 1}"
            )
        return Partition(job.name, ring[:, None] * self.lanes + lane[None, :])


def oversubscription(scenario: Scenario) -> float:
    """How many times the racks of a ring can overload the link to another ring.

    One link joins each pair of rings in each direction, and traffic between two rings has no other
    path. When all racks of a ring send to the same other ring at ``access_bps``, they offer this
    multiple of ``inter_bps``: 8 in the preset ``paper`` (8 racks x 100 Gb/s into 100 Gb/s). A value
    of 1 or less is a fibre that is not oversubscribed; a single ring has no such link and gives 1.
    """
    floor, optical = scenario.floor, scenario.optical
    if floor.rings == 1:
        return 1.0
    return floor.lanes * optical.access_bps / optical.inter_bps
