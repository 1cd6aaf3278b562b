"""The fibre network as data: racks, switches, directed links, and where switches send what.

Nodes are racks ``0 .. racks - 1`` and, after them, switches. Every switch has for every rack the
output links that lie on a shortest path; where there are several, a hash of the flow picks one, as
in a real switch. Nothing here knows a particular topology: see :mod:`thzsync.network.generators`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.hashing import GOLDEN, mix64
from thzsync.network.forwarding import Forwarding, PathRules
from thzsync.scenario import FibreDegraded
from thzsync.scenario.fabric import LARGEST_PACKET_BYTES


@dataclass(frozen=True)
class Buffers:
    """Queues of racks and switches, and what a packet is (eq:wired_buffers)."""

    switch_delay_ps: int = 500_000
    packet_bytes: int = 65_536
    nic_queue_bytes: int = 4_194_304
    output_queue_bytes: int = 4_194_304
    shared_buffer_bytes: int = 33_554_432
    rack_reserve: float = 0.25
    """Share of a shared buffer that outputs further from the racks leave to those nearer."""

    def __post_init__(self) -> None:
        if not 1 <= self.packet_bytes <= LARGEST_PACKET_BYTES:
            raise ThzSyncError(
                f"network: packet_bytes is {self.packet_bytes}; "
                f"use 1 to {LARGEST_PACKET_BYTES} bytes"
            )
        if self.switch_delay_ps < 0 or not 0 <= self.rack_reserve <= 1:
            raise ThzSyncError("network: switch_delay_ps must be >= 0 and rack_reserve within 0..1")
        for name in ("nic_queue_bytes", "output_queue_bytes", "shared_buffer_bytes"):
            if getattr(self, name) < 1:
                raise ThzSyncError(
                    f"network: {name} is {getattr(self, name)}; use at least one packet"
                )

    def limits_bytes(self, classes: int) -> list[int]:
        """What outputs of a class and all classes above it may hold of a shared buffer [bytes].

        A reserve below one packet would not keep the class below alive (see optical/grants.py).
        """
        limits = [self.shared_buffer_bytes]
        for _ in range(classes - 1):
            reserve = max(round(self.rack_reserve * limits[-1]), self.packet_bytes)
            limits.append(max(0, limits[-1] - reserve))
        return limits


@dataclass(frozen=True, eq=False)
class Network:
    """Links with rates, switches with buffers, and the forwarding between them."""

    racks: int
    switches: int
    source: IntArray
    """Node at which every link begins."""
    target: IntArray
    """Node at which every link ends."""
    rate_bps: IntArray
    """Rate of every link [bit/s]; 0 where the numbering has a gap."""
    delay_ps: IntArray
    """Propagation delay of every link [ps]."""
    energy_j_per_bit: FloatArray
    """Energy of a bit on every link [J]."""
    forwarding: Forwarding
    buffers: Buffers
    switch_names: tuple[str, ...]
    sprayed: bool = False
    """Whether every chunk picks its own path; else the chunks of a flow stay together."""
    rules: PathRules = field(default_factory=PathRules)
    key: int = 0
    """Of the hash that picks among equal-cost links."""
    rack_ids: IntArray | None = None
    """Numbers of the racks where this is a part of a larger network; the hash goes by them."""

    @property
    def links(self) -> int:
        """Length of the link numbering, gaps included."""
        return len(self.rate_bps)

    @property
    def packet_bytes(self) -> int:
        """Largest packet [bytes]."""
        return self.buffers.packet_bytes

    @property
    def switch_delay_ps(self) -> int:
        """Processing delay of a switch per packet [ps]."""
        return self.buffers.switch_delay_ps

    @cached_property
    def from_switch(self) -> IntArray:
        """Switch at which every link begins; -1 for links from racks."""
        return np.maximum(self.source - self.racks, -1)

    @cached_property
    def to_switch(self) -> IntArray:
        """Switch at which every link ends; -1 for links to racks."""
        return np.maximum(self.target - self.racks, -1)

    @cached_property
    def uplinks(self) -> IntArray:
        """All links from racks, by rack."""
        own = np.flatnonzero((self.from_switch < 0) & (self.rate_bps > 0))
        return own[np.argsort(self.source[own], kind="stable")]

    @cached_property
    def ports(self) -> int:
        """Links from a rack into the network, of the rack that has most."""
        return int(np.bincount(self.source[self.uplinks], minlength=1).max(initial=1))

    @cached_property
    def outputs(self) -> IntArray:
        """All links from switches, by switch."""
        own = np.flatnonzero((self.from_switch >= 0) & (self.rate_bps > 0))
        return own[np.argsort(self.from_switch[own], kind="stable")]

    @cached_property
    def first_uplink(self) -> IntArray:
        """First link of every rack into the network; its others follow."""
        return self.uplinks[np.searchsorted(self.source[self.uplinks], np.arange(self.racks))]

    @cached_property
    def leaf_of_rack(self) -> IntArray:
        """Switch of every rack's first link."""
        leaf: IntArray = self.to_switch[self.first_uplink]
        return leaf

    @cached_property
    def place_of_rack(self) -> IntArray:
        """Place of every rack on a walk that always goes on to the nearest rack.

        So racks of a leaf come one after the other, and leaves of a pod. Of equally near racks the
        walk takes the lowest number; where numbers go from leaf to leaf, places are numbers.
        """
        distance, of_rack = self.forwarding.distance, self.forwarding.class_of_rack
        far = np.iinfo(np.int64).max
        visited, at = [0], 0  # classes are numbered by their first racks
        left = np.ones(len(distance), dtype=np.bool_)
        for _ in range(len(distance) - 1):
            left[at] = False
            at = int(np.argmin(np.where(left, distance[at], far)))
            visited.append(at)
        order = np.argsort(np.argsort(visited)[of_rack], kind="stable")
        place: IntArray = np.argsort(order)
        return place

    def outputs_of(self, switch: int) -> IntArray:
        """Links that leave a switch."""
        own: IntArray = self.outputs[self.from_switch[self.outputs] == switch]
        return own

    @cached_property
    def single_path(self) -> bool:
        """Whether no switch and no rack ever has a choice."""
        return len(self.forwarding.groups) == 1

    def flow_hash(self, src: IntArray, dst: IntArray, number: IntArray) -> IntArray:
        """What flows between racks go by where several links are equally short: 63 bits."""
        if self.single_path:
            return np.zeros(len(src), dtype=np.int64)
        if self.rack_ids is not None:
            src, dst = self.rack_ids[src], self.rack_ids[dst]
        ends: AnyArray = mix64((src << 32 | dst).astype(np.uint64) + np.uint64(self.key))
        mixed: AnyArray = mix64(ends + (number + 1).astype(np.uint64) * GOLDEN)
        return (mixed >> np.uint64(1)).astype(np.int64)

    def first_links(self, src: IntArray, dst: IntArray, chosen: IntArray) -> IntArray:
        """The link by which flows leave their rack, for arrays of pairs and their hashes."""
        return self.forwarding.pick(self.forwarding.from_rack(src, dst), chosen)

    def next_links(self, switch: IntArray, dst: IntArray, chosen: IntArray) -> IntArray:
        """The link by which flows leave a switch."""
        entry = self.forwarding.table[switch, dst].astype(np.int64)
        return self.forwarding.pick(entry, chosen)

    def walk(self, src: IntArray, dst: IntArray, number: IntArray | int = 0) -> list[IntArray]:
        """Links of flows between racks, hop by hop; -1 behind the last one."""
        src, dst, number = np.broadcast_arrays(
            np.atleast_1d(np.asarray(src, dtype=np.int64)), np.asarray(dst), np.asarray(number)
        )
        chosen = self.flow_hash(src, dst, number)
        steps = [self.first_links(src, dst, chosen)]
        while True:
            at = np.where(steps[-1] >= 0, self.to_switch[steps[-1]], -1)
            going = at >= 0
            if not going.any():
                return steps
            following = np.full_like(at, -1)
            following[going] = self.next_links(at[going], dst[going], chosen[going])
            steps.append(following)

    def path(self, src: int, dst: int, number: int = 0) -> tuple[int, ...]:
        """Links from one rack to another, in order (eq:wired_path)."""
        for rack in (src, dst):
            if not 0 <= rack < self.racks:
                raise ThzSyncError(f"rack {rack} does not exist; use 0..{self.racks - 1}")
        if src == dst:
            raise ThzSyncError(f"rack {src} has no path to itself; name two different racks")
        steps = self.walk(np.array([src]), np.array([dst]), number)
        return tuple(int(step[0]) for step in steps if step[0] >= 0)

    def hops(self, src: int | IntArray, dst: int | IntArray) -> IntArray:
        """Links on the wired path: the same number whichever path a flow takes."""
        return self.forwarding.hops(np.asarray(src), np.asarray(dst))

    @cached_property
    def one_energy(self) -> bool:
        """Whether a bit costs the same on all links."""
        return len(np.unique(self.energy_j_per_bit[self.rate_bps > 0])) == 1

    def energy_j(self, src: IntArray, dst: IntArray, size_bytes: IntArray) -> float:
        """Energy of chunks sent over fibre, per bit and link (eq:optical_energy) [J]."""
        size = np.asarray(size_bytes, dtype=np.int64)
        if self.one_energy:
            bit_hops = 8 * int(np.sum(self.hops(src, dst) * size))
            return float(self.energy_j_per_bit[self.uplinks[0]]) * bit_hops
        bits: FloatArray = 8.0 * size.astype(np.float64)
        return float(np.sum(self.energies_j(src, dst, bits)))

    def busy_s(self, src: IntArray, dst: IntArray, size_bytes: IntArray) -> float:
        """Time that all links together take to send the bytes of flows [s]."""
        load = np.zeros(self.links, dtype=np.int64)
        self.add_load(load, src, dst, size_bytes)
        return float(np.sum(8 * load / np.maximum(self.rate_bps, 1)))

    def energies_j(self, src: IntArray, dst: IntArray, bits: FloatArray) -> FloatArray:
        """Energy of bits between pairs of racks [J], the mean over equally short paths."""
        if self.one_energy:
            same: FloatArray = bits * self.hops(src, dst) * self.energy_j_per_bit[self.uplinks[0]]
            return same
        link, flow, share = self.shares(src, dst)
        return bits * np.bincount(flow, share * self.energy_j_per_bit[link], len(bits))

    def add_load(self, load: IntArray, src: IntArray, dst: IntArray, size_bytes: IntArray) -> None:
        """Add the bytes of flows to the load of every link on their paths."""
        for link in self.walk(src, dst, np.arange(len(src))):
            on = np.flatnonzero(link >= 0)
            np.add.at(load, link[on], size_bytes[on])

    def shares(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Links, positions of the pairs that use them, and the expected share of their bytes.

        Where links are equally short, each is expected to carry the same share.
        """
        return self.forwarding.shares(np.asarray(src), np.asarray(dst), self.to_switch)

    def service_ps(self, link: int, size_bytes: int) -> int:
        """Time of a packet on a link, rounded up to whole picoseconds [ps]."""
        return -(-8 * size_bytes * 10**12 // int(self.rate_bps[link]))

    def node_name(self, node: int) -> str:
        """Name of a rack or a switch."""
        return f"rack {node}" if node < self.racks else self.switch_names[node - self.racks]

    def link_name(self, link: int) -> str:
        """A name that people can read, such as ``rack 3 -> switch 0``."""
        return (
            f"{self.node_name(int(self.source[link]))} -> {self.node_name(int(self.target[link]))}"
        )

    @cached_property
    def pools(self) -> Pools:
        """Parts of the switches' shared buffers."""
        return Pools.of(self)

    @property
    def passing_bytes(self) -> int:
        """What the smallest part of a shared buffer holds: no larger packet could pass [bytes]."""
        return int(self.pools.limit_bytes.min())

    def degraded_links(self, fault: FibreDegraded) -> IntArray:
        """The links that a fault slows down: those of a rack, or those between two switches."""
        real, rack = self.rate_bps > 0, fault.rack
        if rack is not None:
            return np.flatnonzero(real & ((self.source == rack) | (self.target == rack)))
        ends = np.array(fault.ends)
        return np.flatnonzero(
            real & np.isin(self.from_switch, ends) & np.isin(self.to_switch, ends)
        )

    def degraded_bps(self, link: int, faults: Sequence[FibreDegraded]) -> float:
        """Rate of a link under these faults [bit/s]: the smallest share of any that slows it."""
        shares = [f.rate_share for f in faults if link in self.degraded_links(f)]
        return float(self.rate_bps[link]) * min(shares, default=1.0)


@dataclass(frozen=True, eq=False)
class Pools:
    """Parts of shared buffers. Pool s is the whole buffer of switch s.

    The queues of a switch that have the lowest rank may use its whole buffer; those of every higher
    rank share a part of what those below them may use.
    """

    of_link: IntArray
    """The innermost pool that a link's queue takes room from; -1 for racks and gaps."""
    parent: IntArray
    """The pool that includes a pool; -1 for whole buffers."""
    depth: IntArray
    limit_bytes: IntArray
    """What may be held in every pool, those inside it included [bytes]."""

    @staticmethod
    def of(network: Network) -> Pools:
        """The pools of a network."""
        rank = network.forwarding.rank
        of_link = np.full(network.links, -1, dtype=np.int64)
        parent, depth = [-1] * network.switches, [0] * network.switches
        for s in range(network.switches):
            own = network.outputs_of(s)
            pool = s
            for place, level in enumerate(np.unique(rank[own])):
                if place:
                    parent.append(pool)
                    depth.append(place)
                    pool = len(parent) - 1
                of_link[own[rank[own] == level]] = pool
        limits = network.buffers.limits_bytes(1 + max(depth))
        return Pools(
            of_link, np.array(parent), np.array(depth), np.array(limits, dtype=np.int64)[depth]
        )
