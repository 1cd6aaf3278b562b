"""Rings, racks, distances, wired paths and partitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import overload

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


@dataclass(frozen=True, eq=False)
class Wiring:
    """How fibres join racks to their ring's switch, and switches to each other (eq:wired_path).

    Directed links are numbered ``i`` from rack i to its switch, ``racks + i`` back, and
    ``2 racks + s rings + t`` from switch s to switch t; a switch has no link to itself.
    """

    ring_of_rack: IntArray

    @property
    def racks(self) -> int:
        """Number of racks N."""
        return len(self.ring_of_rack)

    @cached_property
    def switches(self) -> int:
        """Number of ring switches S."""
        return int(self.ring_of_rack.max()) + 1

    @property
    def links(self) -> int:
        """Length of the link numbering, gaps included."""
        return 2 * self.racks + self.switches**2

    @overload
    def inter_link(self, s: int, t: int) -> int: ...
    @overload
    def inter_link(self, s: IntArray, t: IntArray) -> IntArray: ...
    def inter_link(self, s: int | IntArray, t: int | IntArray) -> int | IntArray:
        """The link from switch s to switch t."""
        return 2 * self.racks + s * self.switches + t

    def first_hop(self, src: IntArray, dst: IntArray) -> IntArray:
        """The link after a rack's up-link, for arrays of rack pairs."""
        s, t = self.ring_of_rack[src], self.ring_of_rack[dst]
        return np.where(s == t, self.racks + dst, self.inter_link(s, t))

    def hops(self, src: int | IntArray, dst: int | IntArray) -> IntArray:
        """Links on the wired path: 2 within a ring, 3 across rings."""
        same = self.ring_of_rack[np.asarray(src)] == self.ring_of_rack[np.asarray(dst)]
        return np.where(same, 2, 3).astype(np.int64)

    def path(self, src: int, dst: int) -> tuple[int, ...]:
        """Links from one rack to another, in order."""
        s, t = int(self.ring_of_rack[src]), int(self.ring_of_rack[dst])
        between = () if s == t else (self.inter_link(s, t),)
        return (src, *between, self.racks + dst)

    def add_load(self, load: IntArray, src: IntArray, dst: IntArray, size_bytes: IntArray) -> None:
        """Add bytes between racks to the load of every link on their paths."""
        np.add.at(load, src, size_bytes)
        np.add.at(load, self.racks + dst, size_bytes)
        s, t = self.ring_of_rack[src], self.ring_of_rack[dst]
        between = np.flatnonzero(s != t)
        np.add.at(load, self.inter_link(s[between], t[between]), size_bytes[between])

    def link_name(self, link: int) -> str:
        """A name that people can read, such as ``rack 3 -> switch 0``."""
        if link < self.racks:
            return f"rack {link} -> switch {self.ring_of_rack[link]}"
        if link < 2 * self.racks:
            rack = link - self.racks
            return f"switch {self.ring_of_rack[rack]} -> rack {rack}"
        s, t = divmod(link - 2 * self.racks, self.switches)
        return f"switch {s} -> switch {t}"


@dataclass(frozen=True)
class Topology:
    """Where racks stand and how fibres join them.

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

    @property
    def links(self) -> int:
        """Size of the directed link numbering."""
        return self.wiring.links

    @cached_property
    def wiring(self) -> Wiring:
        """The fibres."""
        return Wiring(self.ring_of_rack)

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

    def hops(self, i: int | IntArray, j: int | IntArray) -> IntArray:
        """Links on the wired path: 2 within a ring, 3 across rings (eq:wired_path)."""
        return self.wiring.hops(i, j)

    def path(self, i: int, j: int) -> tuple[int, ...]:
        """Directed links from rack i to rack j (eq:wired_path)."""
        for rack in (i, j):
            if not 0 <= rack < self.racks:
                raise ThzSyncError(f"rack {rack} does not exist; use 0..{self.racks - 1}")
        if i == j:
            raise ThzSyncError(f"rack {i} has no path to itself; name two different racks")
        return self.wiring.path(i, j)

    def inter_link(self, s: int, t: int) -> int:
        """The directed link from the switch of ring s to the switch of ring t."""
        return self.wiring.inter_link(s, t)

    def link_name(self, link: int) -> str:
        """A name that people can read, such as ``rack 3 -> switch 0``."""
        return self.wiring.link_name(link)

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
