"""A part of the floor for a part of the time, packet by packet: to see what packets would do.

The window has the rings that matter, under new numbers, and a clock that begins at an instant of
the whole run. Its background is that of the whole floor: the same bursts at the same instants.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.optical.background import Background
from thzsync.optical.fabric import OpticalFabric
from thzsync.optical.network import Network


class Window:
    """Some rings of a network, from an instant on."""

    def __init__(
        self,
        network: Network,
        rings: IntArray,
        background: Background | None,
        key: int,
        from_ps: int,
    ) -> None:
        self.racks = np.flatnonzero(np.isin(network.ring_of_rack, rings))
        switch = np.searchsorted(rings, network.ring_of_rack[self.racks])
        old = _old_links(network, self.racks, rings)
        part = replace(network, ring_of_rack=switch, rate_bps=network.rate_bps[old])
        self.from_ps, self._old_links = from_ps, old
        self.fabric = OpticalFabric(part, background, key, names=old, from_ps=from_ps)

    def rack(self, rack: IntArray) -> IntArray:
        """The window's numbers of racks."""
        return np.searchsorted(self.racks, rack)

    def link(self, old: int) -> int | None:
        """The window's number of a link, if it is inside."""
        found = np.flatnonzero(self._old_links == old)
        return int(found[0]) if len(found) else None


def _old_links(network: Network, racks: IntArray, rings: IntArray) -> IntArray:
    between = network.inter_link(np.repeat(rings, len(rings)), np.tile(rings, len(rings)))
    return np.concatenate((racks, network.racks + racks, between))
