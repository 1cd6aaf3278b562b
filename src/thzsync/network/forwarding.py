"""Forwarding tables: where switches send packets, and how a flow picks one of equal links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PathRules:
    """Which paths flows may take; the shortest ones, where nothing else is said."""

    updown: bool = False
    """Paths first go up and then down the levels of a tree."""
    cost: IntArray | None = None
    """Length of every link, where it is not 1."""
    dimension: IntArray | None = None
    """Of every link: of equally short paths, those in the order of their dimensions are taken."""

    def of(self, links: IntArray) -> PathRules:
        """The rules of some links only."""
        cost, dimension = (None if a is None else a[links] for a in (self.cost, self.dimension))
        return PathRules(self.updown, cost, dimension)

    @property
    def shortest(self) -> bool:
        """Whether all paths are among those with the fewest links."""
        return not self.updown and self.cost is None


@dataclass(frozen=True, eq=False)
class Forwarding:
    """Tables of a network. An entry is a link, or ``-1 - k`` for the group that begins at k."""

    table: AnyArray
    """By (switch, rack)."""
    nic_table: AnyArray
    """By (rack, class of the destination); with one column where every rack has one link."""
    groups: IntArray
    """For every group the number of its links, how far to shift a flow's hash, then the links."""
    class_of_rack: IntArray
    distance: IntArray
    """Links from a rack of every class to one of every class."""
    rank: IntArray
    """Of every link; 0 for links to racks, -1 for links from racks and gaps."""

    def from_rack(self, src: IntArray, dst: IntArray) -> IntArray:
        """Entries for leaving a rack."""
        column = 0 if self.nic_table.shape[1] == 1 else self.class_of_rack[dst]
        entry: IntArray = self.nic_table[src, column].astype(np.int64)
        return entry

    def hops(self, src: IntArray, dst: IntArray) -> IntArray:
        """Links on the shortest paths between racks."""
        found: IntArray = self.distance[self.class_of_rack[src], self.class_of_rack[dst]]
        return found

    def pick(self, entry: IntArray, chosen: IntArray) -> IntArray:
        """The links of entries; a flow's hash picks one of several.

        Every group on a path has a rank of its own, and so uses other bits of the hash: flows that
        were sent one way by a switch are spread again by the next.
        """
        several = np.flatnonzero(entry < 0)
        if not len(several):
            return entry
        link, begin = entry.copy(), -1 - entry[several]
        place = (chosen[several] >> self.groups[begin + 1]) % self.groups[begin]
        link[several] = self.groups[begin + 2 + place]
        return link

    def shares(
        self, src: IntArray, dst: IntArray, to_switch: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Links, the positions of the pairs that use them, and the shares of their bytes."""
        position = np.arange(len(src), dtype=np.int64)
        entry, share = self.from_rack(src, dst), np.ones(len(src))
        found = [(position[:0], position[:0], share[:0])]
        while len(entry):
            link, place, share = self._spread(entry, share)
            position = position[place]
            found.append((link, position, share))
            on = np.flatnonzero(to_switch[link] >= 0)
            position, share = position[on], share[on]
            entry = self.table[to_switch[link[on]], dst[position]].astype(np.int64)
        links, positions, shares = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(positions, kind="stable")
        return links[order], positions[order], shares[order]

    def _spread(self, entry: IntArray, share: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Links of entries, the entry of each, and the share that it gets."""
        begin = np.where(entry < 0, -1 - entry, 0)
        many = np.where(entry < 0, self.groups[begin], 1)
        place = np.repeat(np.arange(len(entry)), many)
        within = np.arange(len(place)) - np.repeat(np.cumsum(many) - many, many)
        member = self.groups[np.minimum(begin[place] + 2 + within, len(self.groups) - 1)]
        return np.where(entry[place] < 0, member, entry[place]), place, share[place] / many[place]
