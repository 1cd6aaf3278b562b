"""A part of the network for a part of the time, packet by packet: to see what packets would do.

The window has the switches that matter and their racks, under new numbers, and a clock that begins
at an instant of the whole run. Its background is that of the whole network: the same bursts at the
same instants.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.network import Network, part_of
from thzsync.optical.background import Background
from thzsync.optical.fabric import OpticalFabric


class Window:
    """Some switches of a network and their racks, from an instant on."""

    def __init__(
        self,
        network: Network,
        switches: IntArray,
        background: Background | None,
        key: int,
        from_ps: int,
    ) -> None:
        part, self._links = part_of(network, switches)
        assert part.rack_ids is not None
        self.racks, self.from_ps = part.rack_ids, from_ps
        self.fabric = OpticalFabric(part, background, key, names=self._links, from_ps=from_ps)

    def rack(self, rack: IntArray) -> IntArray:
        """The window's numbers of racks."""
        return np.searchsorted(self.racks, rack)

    def link(self, old: int) -> int | None:
        """The window's number of a link, if it is inside."""
        found = np.flatnonzero(self._links == old)
        return int(found[0]) if len(found) else None
