"""The floor: where racks stand, and which of them a job owns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.scenario import Floor, FloorKind, Job


@dataclass(frozen=True, eq=False)
class Partition:
    """The racks that one job owns: a row per pipeline stage, a column per replica."""

    job: str
    racks: IntArray
    """Global rack index by (stage, lane)."""

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        return int(self.racks.shape[0])

    @property
    def lanes(self) -> int:
        """Data-parallel replicas."""
        return int(self.racks.shape[1])


@dataclass(frozen=True)
class Topology:
    """Where racks stand.

    Rack ``i`` is in group (ring or row) ``i // lanes`` and lane ``i % lanes``, both from 0.
    """

    floor: FloorKind

    @property
    def racks(self) -> int:
        """Number of racks."""
        return self.floor.racks

    @property
    def groups(self) -> int:
        """Number of rings or rows."""
        return self.floor.groups

    @property
    def lanes(self) -> int:
        """Racks per ring or row."""
        return self.floor.lanes

    @property
    def alike(self) -> int:
        """Consecutive racks that a turn of the floor maps to each other: a ring, elsewhere one."""
        return self.lanes if isinstance(self.floor, Floor) else 1

    @cached_property
    def group_of_rack(self) -> IntArray:
        """Ring or row of every rack."""
        return np.arange(self.racks, dtype=np.int64) // self.lanes

    @cached_property
    def lane_of_rack(self) -> IntArray:
        """Lane of every rack."""
        return np.arange(self.racks, dtype=np.int64) % self.lanes

    @cached_property
    def radius_m(self) -> FloatArray:
        """Radius of every ring [m]; none without rings."""
        return np.array(self.floor.radii_m if isinstance(self.floor, Floor) else [])

    @cached_property
    def position_m(self) -> FloatArray:
        """Cartesian rack positions, one row per rack [m]."""
        return np.array(self.floor.places_m, dtype=np.float64)

    @cached_property
    def _cosine(self) -> FloatArray:
        """Cosine of the angle between racks, by their distance in slots.

        From ``math``: NumPy's cosine may differ in its last digit between processors.
        """
        assert isinstance(self.floor, Floor)
        slots = self.floor.slots_per_ring
        return np.array([math.cos(2 * math.pi * apart / slots) for apart in range(self.lanes)])

    def distance_m(self, i: int | IntArray, j: int | IntArray) -> FloatArray:
        """Distance between racks [m] (eq:rack_distance)."""
        i, j = np.asarray(i), np.asarray(j)
        if not isinstance(self.floor, Floor):
            place = self.position_m
            x_m, y_m = np.moveaxis(place[i] - place[j], -1, 0)
            apart: FloatArray = np.hypot(x_m, y_m)
            return apart
        a, b = self.radius_m[self.group_of_rack[i]], self.radius_m[self.group_of_rack[j]]
        slots = self.lane_of_rack[i] - self.lane_of_rack[j]
        cosine = self._cosine[np.abs(slots)]
        squared: FloatArray = np.maximum(a**2 + b**2 - 2 * a * b * cosine, 0.0)
        return np.sqrt(np.where(i == j, 0.0, squared))

    def partition(self, job: Job) -> Partition:
        """The racks of a job by stage and lane: listed, or of some groups and lanes."""
        if job.stages is not None:
            return Partition(job.name, np.array(job.stages, dtype=np.int64))
        groups = self.groups - job.first_ring if job.rings is None else job.rings
        lanes = self.lanes - job.first_lane if job.lanes is None else job.lanes
        group = job.first_ring + np.arange(groups, dtype=np.int64)
        lane = job.first_lane + np.arange(lanes, dtype=np.int64)
        if groups < 1 or lanes < 1 or group[-1] >= self.groups or lane[-1] >= self.lanes:
            noun = self.floor.noun
            raise ThzSyncError(
                f"job {job.name!r}: its partition leaves the floor, which has {noun}s "
                f"0..{self.groups - 1} and lanes 0..{self.lanes - 1}"
            )
        return Partition(job.name, group[:, None] * self.lanes + lane[None, :])
