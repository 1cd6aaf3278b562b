"""From a scenario to its network."""

from __future__ import annotations

from thzsync.arrays import to_ps
from thzsync.network.generators import rings
from thzsync.network.network import Buffers, Network
from thzsync.scenario import Scenario
from thzsync.topology import Topology


def network_of(scenario: Scenario) -> Network:
    """The fibres and switches of a scenario."""
    optical = scenario.optical
    buffers = Buffers(
        switch_delay_ps=to_ps(optical.switch_delay_s),
        packet_bytes=optical.packet_bytes,
        nic_queue_bytes=optical.nic_queue_bytes,
        output_queue_bytes=optical.output_queue_bytes,
        shared_buffer_bytes=optical.shared_buffer_bytes,
        rack_reserve=optical.rack_reserve,
    )
    return rings(
        Topology(scenario.floor).ring_of_rack,
        access_bps=optical.access_bps,
        inter_bps=optical.inter_bps,
        energy_j_per_bit=optical.energy_j_per_bit_hop,
        buffers=buffers,
    )
