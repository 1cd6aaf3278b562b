"""The wired network as flat arrays: racks, one switch per ring, directed links, buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError
from thzsync.scenario import FibreDegraded
from thzsync.scenario.fabric import LARGEST_PACKET_BYTES
from thzsync.topology import Wiring


@dataclass(frozen=True, eq=False)
class Network(Wiring):
    """Fibres with rates, switches with buffers (eq:wired_path, eq:wired_buffers)."""

    rate_bps: IntArray
    """Rate of every link [bit/s]; 0 where the numbering has a gap."""
    switch_delay_ps: int
    packet_bytes: int
    nic_queue_bytes: int
    output_queue_bytes: int
    shared_buffer_bytes: int
    reserve_bytes: int
    """Part of every shared buffer that only rack-facing outputs may use [bytes]."""

    @staticmethod
    def build(
        ring_of_rack: Sequence[int] | IntArray,
        *,
        access_bps: float = 100e9,
        inter_bps: float = 100e9,
        switch_delay_ps: int = 500_000,
        packet_bytes: int = 65_536,
        nic_queue_bytes: int = 4_194_304,
        output_queue_bytes: int = 4_194_304,
        shared_buffer_bytes: int = 33_554_432,
        rack_reserve: float = 0.25,
    ) -> Network:
        """A network from plain numbers; ``rack_reserve`` is a share of the shared buffer."""
        rings = np.ascontiguousarray(ring_of_rack, dtype=np.int64)
        if len(rings) == 0 or rings.min() < 0:
            raise ThzSyncError("network: ring_of_rack must name a ring from 0 for every rack")
        switches = int(rings.max()) + 1
        for name, bps in (("access_bps", access_bps), ("inter_bps", inter_bps)):
            if not 1 <= bps < 1e15:
                raise ThzSyncError(f"network: {name} is {bps}; use 1 bit/s to 1 Pbit/s")
        if not 1 <= packet_bytes <= LARGEST_PACKET_BYTES:
            raise ThzSyncError(
                f"network: packet_bytes is {packet_bytes}; use 1 to {LARGEST_PACKET_BYTES} bytes"
            )
        if switch_delay_ps < 0 or not 0 <= rack_reserve <= 1:
            raise ThzSyncError("network: switch_delay_ps must be >= 0 and rack_reserve within 0..1")
        for name, size in (
            ("nic_queue_bytes", nic_queue_bytes),
            ("output_queue_bytes", output_queue_bytes),
            ("shared_buffer_bytes", shared_buffer_bytes),
        ):
            if size < 1:
                raise ThzSyncError(f"network: {name} is {size}; use at least one packet")
        racks = len(rings)
        rate = np.full(2 * racks + switches**2, round(inter_bps), dtype=np.int64)
        rate[: 2 * racks] = round(access_bps)
        rate[2 * racks + np.arange(switches) * (switches + 1)] = 0
        # a reserve below one packet would not keep rack-facing outputs alive (see grants.py)
        reserve = max(round(rack_reserve * shared_buffer_bytes), packet_bytes)
        return Network(
            ring_of_rack=rings,
            rate_bps=rate,
            switch_delay_ps=int(switch_delay_ps),
            packet_bytes=int(packet_bytes),
            nic_queue_bytes=int(nic_queue_bytes),
            output_queue_bytes=int(output_queue_bytes),
            shared_buffer_bytes=int(shared_buffer_bytes),
            reserve_bytes=min(reserve, int(shared_buffer_bytes)),
        )

    @property
    def ring_facing_bytes(self) -> int:
        """What outputs towards other switches may hold of a shared buffer [bytes]."""
        return self.shared_buffer_bytes - self.reserve_bytes

    def outputs(self, s: int) -> IntArray:
        """Links that leave switch s: to its racks, then to the other switches."""
        down = self.racks + np.flatnonzero(self.ring_of_rack == s)
        others = np.array([t for t in range(self.switches) if t != s], dtype=np.int64)
        return np.concatenate((down, self.inter_link(np.full_like(others, s), others)))

    def service_ps(self, link: int, size_bytes: int) -> int:
        """Time of a packet on a link, rounded up to whole picoseconds [ps]."""
        return -(-8 * size_bytes * 10**12 // int(self.rate_bps[link]))


def energy_j(
    network: Network,
    src: IntArray,
    dst: IntArray,
    size_bytes: IntArray,
    energy_j_per_bit_hop: float,
) -> float:
    """Optical energy of chunks sent over fibre, per bit and link (eq:optical_energy) [J]."""
    bit_hops = 8 * int(np.sum(network.hops(src, dst) * np.asarray(size_bytes, dtype=np.int64)))
    return energy_j_per_bit_hop * bit_hops


def degraded_links(network: Network, fault: FibreDegraded) -> IntArray:
    """The links that a fault slows down: those of a rack, or those between two rings."""
    if fault.rack is not None:
        return np.array([fault.rack, network.racks + fault.rack])
    assert fault.rings is not None
    a, b = fault.rings
    return np.array([network.inter_link(a, b), network.inter_link(b, a)])


def degraded_bps(network: Network, link: int, faults: Sequence[FibreDegraded]) -> float:
    """Rate of a link under these faults [bit/s]: the smallest share of any that slows it down."""
    shares = [f.rate_share for f in faults if link in degraded_links(network, f)]
    return float(network.rate_bps[link]) * min(shares, default=1.0)
