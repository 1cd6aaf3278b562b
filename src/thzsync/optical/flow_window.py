"""A part of the floor for a part of the time, packet by packet: to see what packets would do.

The window has the rings that matter, under new numbers, and a clock that begins at an instant of
the whole run. Its background is that of the whole floor: the same bursts at the same instants.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.optical import layout as c
from thzsync.optical.background import Background, gaps_ps
from thzsync.optical.fabric import OpticalFabric
from thzsync.optical.layout import State
from thzsync.optical.lowering import bursts_ahead
from thzsync.optical.network import Network
from thzsync.optical.tournament import set_keys


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
        self.fabric = OpticalFabric(part, background, key)
        if background is not None and background.load > 0:
            self.fabric.use_bursts(_Bursts(part, background, key, old, from_ps))

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


class _Bursts:
    """Supplies a window's kernel with the bursts of the whole floor."""

    def __init__(
        self, network: Network, background: Background, key: int, old: IntArray, from_ps: int
    ) -> None:
        self._key, self._ahead = key, bursts_ahead(network.links)
        outputs = np.concatenate([network.outputs(s) for s in range(network.switches)])
        rates = network.rate_bps[outputs].tolist()
        self._outputs, self._names = outputs, old[outputs]
        self._mean_ps = np.array([background.mean_gap_ps(rate) for rate in rates])
        self._drawn = np.zeros(len(outputs), dtype=np.int64)
        self._last_ps = np.full(len(outputs), -from_ps, dtype=np.int64)
        self._fresh = True
        self._skip()

    def _draw(self, rows: IntArray) -> IntArray:
        """The next bursts of links, without taking them."""
        names, first, mean = self._names[rows], self._drawn[rows], self._mean_ps[rows]
        gaps = gaps_ps(self._key, names, first, self._ahead, mean)
        return self._last_ps[rows, None] + np.cumsum(gaps, axis=1)

    def _skip(self) -> None:
        """Pass the bursts that came before the window."""
        rows = np.arange(len(self._outputs))
        while len(rows):
            instants = self._draw(rows)
            past = (instants < 0).sum(axis=1)
            some = np.flatnonzero(past)
            self._last_ps[rows[some]] = instants[some, past[some] - 1]
            self._drawn[rows] += past
            rows = rows[past == self._ahead]

    def refill(self, st: State) -> None:
        """Draw new bursts for every link that has used up its own."""
        used_up = st.burst[self._outputs, c.BG_POS] >= st.burst.shape[1]
        rows = np.flatnonzero(used_up | self._fresh)
        self._fresh = False
        link, instants = self._outputs[rows], self._draw(rows)
        st.burst[link, c.FIRST_BURST :] = instants
        st.burst[link, c.BG_POS] = c.FIRST_BURST
        self._drawn[rows] += self._ahead
        self._last_ps[rows] = instants[:, -1]
        set_keys(st.bg_key, st.bg_tree, link, instants[:, 0].copy())
        st.ctl[c.BURSTS_SHORT] = 0
