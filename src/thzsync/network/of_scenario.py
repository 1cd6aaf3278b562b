"""From a scenario to its network."""

from __future__ import annotations

from dataclasses import replace

from thzsync.arrays import to_ps
from thzsync.errors import ThzSyncError
from thzsync.network.forwarding import Circle
from thzsync.network.generators import Fibres, fat_tree, leaf_spine, rings
from thzsync.network.network import Buffers, Network
from thzsync.scenario import FatTree, LeafSpine, NetworkFile, RingNetwork, Scenario
from thzsync.topology import Topology


def network_of(scenario: Scenario, key: int = 0) -> Network:
    """The fibres and switches of a scenario; the key decides which flows share a path."""
    network = _network(scenario)
    return network if network.single_path else replace(network, key=key)


def _network(scenario: Scenario) -> Network:
    optical = scenario.optical
    buffers = Buffers(
        switch_delay_ps=to_ps(optical.switch_delay_s),
        packet_bytes=optical.packet_bytes,
        nic_queue_bytes=optical.nic_queue_bytes,
        output_queue_bytes=optical.output_queue_bytes,
        shared_buffer_bytes=optical.shared_buffer_bytes,
        rack_reserve=optical.rack_reserve,
    )
    given, racks = scenario.network, scenario.floor.racks
    if isinstance(given, RingNetwork):
        return rings(
            Topology(scenario.floor).group_of_rack,
            access_bps=optical.access_bps,
            inter_bps=optical.inter_bps,
            energy_j_per_bit=optical.energy_j_per_bit_hop,
            buffers=buffers,
        )
    if isinstance(given, NetworkFile):
        return _from_file(given, racks, optical.energy_j_per_bit_hop, buffers)
    fibres = Fibres(
        access_bps=optical.access_bps,
        oversubscription=given.oversubscription,
        access_length_m=given.access_length_m,
        switch_length_m=given.switch_length_m,
        energy_j_per_bit=optical.energy_j_per_bit_hop,
        buffers=buffers,
        sprayed=given.routing == "spray",
    )
    match given:
        case FatTree():
            return fat_tree(racks, given.radix, fibres)
        case LeafSpine():
            nics, planes = given.planes, given.planes > 1
        case _:
            nics, planes = given.nics_per_rack, False
    return leaf_spine(racks, given.racks_per_leaf, given.spines, fibres, nics=nics, planes=planes)


def _from_file(given: NetworkFile, racks: int, energy: float, buffers: Buffers) -> Network:
    from thzsync.network.importers import read_wires

    wires = read_wires(given.file)
    if wires.racks != racks:
        raise ThzSyncError(
            f"network.file: {given.file} has {wires.racks} racks and the floor {racks}; "
            "make both equal"
        )
    spray = given.routing == "spray"
    try:
        return wires.network(buffers, energy, spray, updown=given.paths == "up-down")
    except Circle:
        if given.paths != "auto":
            raise
        return wires.network(buffers, energy, spray, updown=True)
