"""Which fibres a flow can cross, worked out anew from the links of the network (eq:wired_path).

A flow takes a shortest path; where there are several, a hash that is not looked at here picks one.
So a link is crossed *surely* if it lies on all of them, and *perhaps* if it lies on some. Where
every pair of racks has one path only, as on the paper's rings, both are the same.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.network import Network

_FAR = np.inf


class Crossed(NamedTuple):
    """Links that flows can cross."""

    link: IntArray
    flow: IntArray
    """Position of the flow."""
    surely: BoolArray


class Ways(NamedTuple):
    """Shares of all paths between racks of two classes."""

    between: IntArray
    """Links between switches that are on some path."""
    share: FloatArray
    """Share of the paths that use each of them."""
    first: FloatArray
    """Share of the paths that use each of a rack's links into the network."""
    last: FloatArray


class Paths:
    """Shortest paths of a network, counted."""

    def __init__(self, network: Network) -> None:
        self.network, self.racks = network, network.racks
        self.rate_bps = network.rate_bps.astype(np.float64)
        self.nodes = self.racks + network.switches
        self.real = np.flatnonzero(network.rate_bps > 0)
        source, target = network.source - self.racks, network.target - self.racks
        self.up = self.real[source[self.real] < 0]
        self.down = self.real[target[self.real] < 0]
        self.between = self.real[(source[self.real] >= 0) & (target[self.real] >= 0)]
        self._start, self._end = source[self.between], target[self.between]
        self.ports = _by(network.source[self.up], self.up, self.racks)
        self.last = _by(network.target[self.down], self.down, self.racks)
        """Links to every rack."""
        self._known: dict[tuple[int, int], Ways] = {}

    @cached_property
    def single(self) -> BoolArray:
        """Racks with one link from the network."""
        return np.array([len(links) == 1 for links in self.last])

    @cached_property
    def _counted(self) -> tuple[FloatArray, FloatArray]:
        """Links between switches on the shortest paths, and how many such paths there are."""
        switches = self.network.switches
        joined = np.zeros((switches, switches))
        np.add.at(joined, (self._start, self._end), 1.0)
        apart, many = np.full((switches, switches), _FAR), np.eye(switches)
        apart[np.eye(switches, dtype=np.bool_)] = 0
        step = np.eye(switches)
        for length in range(1, switches):
            step = np.where(apart == _FAR, step @ joined, 0.0)
            new = step > 0
            if not new.any():
                break
            apart[new], many[new] = length, step[new]
        return apart, many

    def hops(self, src: IntArray, dst: IntArray) -> IntArray:
        """Links on the path of flows."""
        if not self.network.rules.shortest:
            return self.network.hops(src, dst)  # as the network declares
        _, of_rack = self._classes
        found: IntArray = self._class_hops[of_rack[src], of_rack[dst]]
        return found

    @cached_property
    def _classes(self) -> tuple[list[tuple[IntArray, IntArray]], IntArray]:
        """Switches next to racks: of their links into the network and from it, by class."""
        source, target = self.network.source - self.racks, self.network.target - self.racks
        known: dict[tuple[bytes, bytes], int] = {}
        classes: list[tuple[IntArray, IntArray]] = []
        of_rack = np.zeros(self.racks, dtype=np.int64)
        for rack in range(self.racks):
            up, down = target[self.ports[rack]], source[self.last[rack]]
            key = (up.tobytes(), down.tobytes())
            if key not in known:
                known[key] = len(classes)
                classes.append((up, down))
            of_rack[rack] = known[key]
        return classes, of_rack

    @cached_property
    def _class_hops(self) -> IntArray:
        classes, _ = self._classes
        apart, _ = self._counted
        rows = [[2 + apart[np.ix_(up, down)].min() for _, down in classes] for up, _ in classes]
        return np.array(rows).astype(np.int64)

    def crossed(self, src: IntArray, dst: IntArray) -> Crossed:
        """Links that flows between racks can cross."""
        _, of_rack = self._classes
        pair = of_rack[src] * self.racks + of_rack[dst]
        found = []
        order = np.argsort(pair, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(pair[order])) + 1):
            if len(rows):
                ways = self._ways(int(of_rack[src[rows[0]]]), int(of_rack[dst[rows[0]]]))
                found += [_spread(rows, src[rows], dst[rows], self, ways)]
        if not found:
            none = np.zeros(0, dtype=np.int64)
            return Crossed(none, none, none > 0)
        return Crossed(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def _ways(self, a: int, b: int) -> Ways:
        """Paths from racks of class a to racks of class b."""
        if (a, b) not in self._known:
            self._known[a, b] = self._count_ways(a, b)
        return self._known[a, b]

    def _count_ways(self, a: int, b: int) -> Ways:
        classes, _ = self._classes
        up, down = classes[a][0], classes[b][1]
        if not self.network.rules.shortest:  # perhaps any link between switches
            some = np.full(len(self.between), 0.5)
            return Ways(
                self.between, some, np.full(len(up), 1 / len(up)), np.full(len(down), 1 / len(down))
            )
        apart, many = self._counted
        nearest = apart[np.ix_(up, down)]
        best = nearest == nearest.min()
        ways = np.where(best, many[np.ix_(up, down)], 0.0)
        total = ways.sum()
        share = np.zeros(len(self.between))
        for i, j in zip(*np.nonzero(best), strict=True):
            length = apart[up[i], self._start] + 1 + apart[self._end, down[j]]
            on = length == apart[up[i], down[j]]
            share[on] += many[up[i], self._start[on]] * many[self._end[on], down[j]]
        used = np.flatnonzero(share > 0)
        return Ways(
            self.between[used],
            share[used] / total,
            ways.sum(axis=1) / total,
            ways.sum(axis=0) / total,
        )


def _by(node: IntArray, links: IntArray, racks: int) -> list[IntArray]:
    order = np.argsort(node, kind="stable")
    return np.split(links[order], np.searchsorted(node[order], np.arange(1, racks)))


def _spread(
    rows: IntArray,
    src: IntArray,
    dst: IntArray,
    paths: Paths,
    ways: Ways,
) -> Crossed:
    """The links of flows whose ends are of the same classes."""
    between, share, first, last = ways
    count = len(rows)
    parts = [(np.tile(between, count), np.repeat(rows, len(between)), np.tile(share, count))]
    for ends, links, part in ((src, paths.ports, first), (dst, paths.last, last)):
        own = np.concatenate([links[rack] for rack in ends.tolist()])
        parts.append((own, np.repeat(rows, len(part)), np.tile(part, count)))
    link, flow, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    on = share > 0
    return Crossed(link[on], flow[on], share[on] > 1 - 1e-9)
