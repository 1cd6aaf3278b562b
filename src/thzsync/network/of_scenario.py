"""From a scenario to its network."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from thzsync.arrays import to_ps
from thzsync.errors import ThzSyncError
from thzsync.network.generators import Fibres, Wires, fat_tree, leaf_spine, rings
from thzsync.network.network import Buffers, Network
from thzsync.network.routing import Circle
from thzsync.plugins import blamed
from thzsync.scenario import (
    FatTree,
    LeafSpine,
    NetworkFile,
    NetworkFunction,
    NetworkKind,
    Optical,
    RailOptimised,
    RingNetwork,
    Scenario,
    SwitchedNetwork,
)


def network_of(scenario: Scenario, key: int = 0) -> Network:
    """The fibres and switches of a scenario; the key decides which flows share a path."""
    given, floor = scenario.network, scenario.floor
    stamp = _stamp(given.file) if isinstance(given, NetworkFile) else None
    build = _network if _is_hashable(given) else _network.__wrapped__
    network = build(given, scenario.optical, floor.groups, floor.lanes, stamp)
    return network if network.single_path else replace(network, key=key)


def _is_hashable(given: NetworkKind) -> bool:
    try:
        hash(given)
    except TypeError:  # a plug-in's key may be a table
        return False
    return not isinstance(given, NetworkFunction)


def _stamp(name: str) -> tuple[int, int] | None:
    """When a file was last changed, and its length; None where it cannot be read."""
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=1)
def _network(
    given: NetworkKind, optical: Optical, groups: int, lanes: int, stamp: tuple[int, int] | None
) -> Network:
    """The same for every scenario that agrees in these. A large one takes seconds to build."""
    racks = groups * lanes
    buffers = Buffers(
        switch_delay_ps=to_ps(optical.switch_delay_s),
        packet_bytes=optical.packet_bytes,
        nic_queue_bytes=optical.nic_queue_bytes,
        output_queue_bytes=optical.output_queue_bytes,
        shared_buffer_bytes=optical.shared_buffer_bytes,
        rack_reserve=optical.rack_reserve,
    )
    if isinstance(given, RingNetwork):
        return rings(
            np.arange(racks, dtype=np.int64) // lanes,
            access_bps=optical.access_bps,
            inter_bps=optical.inter_bps,
            energy_j_per_bit=optical.energy_j_per_bit_hop,
            buffers=buffers,
        )
    if isinstance(given, NetworkFile):
        return _from_file(given, racks, optical.energy_j_per_bit_hop, buffers)
    assert isinstance(given, SwitchedNetwork)
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
        case RailOptimised():
            nics, planes = given.nics_per_rack, False
        case _:
            return _laid(given, racks, fibres)
    return leaf_spine(racks, given.racks_per_leaf, given.spines, fibres, nics=nics, planes=planes)


def _laid(given: SwitchedNetwork, racks: int, fibres: Fibres) -> Network:
    """The network of a plug-in or a function."""
    what = f"network: kind {given.kind!r}"
    if isinstance(given, NetworkFunction):
        what = f"network.function: {given.function}"
    with blamed(what):
        wires = given.wires(racks, fibres)
    if not isinstance(wires, Wires) or wires.racks != racks:
        raise ThzSyncError(f"{what} must return Wires of {racks} racks")
    return wires.network(fibres.buffers, fibres.energy_j_per_bit, fibres.sprayed)


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
