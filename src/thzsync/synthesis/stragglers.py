"""AllReduce with several stragglers: their data meets at roots before the sums are spread.

What everybody else has is summed up while the stragglers are waited for. When their data comes it
has to meet: one sends to the other, or all send to a third rack, which adds up and spreads.
Straight is best where stragglers stand near each other, helpers where they do not. The tensor is
cut into shards, each with a root and trees of its own, so that all racks have about the same to do
(``packing.pack``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.synthesis.method import Setting
from thzsync.transfers import Flow

LEAST_SHARE: Final = 0.02
"""A smaller part of the tensor is not worth its flows."""
MOST_SHARDS: Final = 16
"""Every shard has flows of its own, and transmissions are formed from all of them."""
DISCIPLINE: Final = "sustained-chunk"
_WORST_LINK: Final = 1e4
"""No link counts as so many times slower than the fastest, lest it drown the others."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """The shards of one tensor, each with its root and the trees of its sums and its spreading."""

    racks: IntArray
    """All racks of the event; everything else is by position in it."""
    late: tuple[int, ...]
    """Stragglers, the latest one last."""
    shares: FloatArray
    """Part of the tensor of every shard, the largest first."""
    roots: IntArray
    sums: IntArray
    """Parent of every rack in the tree of sums by shard; negative at the root and outside."""
    spreads: IntArray
    """Parent of every rack in the tree by which the result is spread."""

    def links(self) -> tuple[IntArray, IntArray]:
        """Sources and destinations of the links by which the largest shard is spread."""
        parent = self.spreads[0]
        child = np.flatnonzero(parent >= 0)
        return self.racks[parent[child]], self.racks[child]

    def flows(self, size: int, shard: int = 0, first: int = 0, thz: bool = False) -> list[Flow]:
        """Flows ``first``, ... of shards ``shard``, ... that reduce and spread so many bytes."""
        cuts = np.rint(np.cumsum(self.shares) / self.shares.sum() * size).astype(np.int64)
        flows: list[Flow] = []
        for number, part in enumerate(np.diff(cuts, prepend=0).tolist()):
            if part:
                flows += self._shard(number, part, shard, first + len(flows), thz)
                shard += 1
        return flows

    def _shard(self, number: int, size: int, shard: int, first: int, thz: bool) -> list[Flow]:
        root, sums, spreads = int(self.roots[number]), self.sums[number], self.spreads[number]
        flow = partial(
            Flow, size_bytes=size, shard=shard, bundled=False, thz=thz, discipline=DISCIPLINE
        )
        flows: list[Flow] = []

        def add(src: int, dst: int, after: list[int], local: bool, reduces: bool) -> int:
            ends = int(self.racks[src]), int(self.racks[dst])
            flows.append(flow(*ends, after=tuple(after), local=local, reduces=reduces))
            return first + len(flows) - 1

        arrived: dict[int, list[int]] = {v: [] for v in range(len(self.racks))}
        for v in _outwards(sums, root)[:0:-1]:
            parent = int(sums[v])
            arrived[parent].append(add(v, parent, arrived[v], local=True, reduces=True))
        for v in self.late:
            if v != root:
                arrived[root].append(add(v, root, [], local=True, reduces=True))
        brought = {root: arrived[root]}
        for v in _outwards(spreads, root)[1:]:
            parent = int(spreads[v])
            brought[v] = [add(parent, v, brought[parent], local=parent == root, reduces=False)]
        return flows


def _outwards(parent: IntArray, root: int) -> list[int]:
    """The racks of a tree, everyone after its parent."""
    order = [root]
    for v in order:
        order += np.flatnonzero(parent == v).tolist()
    return order


def meeting(setting: Setting, racks: IntArray, size: int) -> tuple[Meeting, float]:
    """The best shards found for two or more stragglers, and the busiest rack's load.

    Loads are in units of the time in which all subbands of a rack would carry ``size`` bytes at one
    bit per second and hertz, counted from the last rack's release.
    """
    from thzsync.synthesis.packing import pack  # compiled: not for who only asks names

    late, early = late_racks(setting, size)
    airtime = air_times(setting)
    shares, roots, sums, spreads = pack(airtime, late, early)
    kept = np.argsort(-shares, kind="stable")[:MOST_SHARDS]
    kept = kept[shares[kept] >= min(LEAST_SHARE, shares.max())]
    shares = shares[kept] / shares[kept].sum()
    met = Meeting(racks, tuple(late.tolist()), shares, roots[kept], sums[kept], spreads[kept])
    return met, _load(met, airtime, early)


def late_racks(setting: Setting, size: int) -> tuple[IntArray, FloatArray]:
    """Positions of the stragglers, the latest one last, and their head starts in units of load."""
    late_s, thz = setting.delay_s, setting.thz
    order = np.argsort(late_s, kind="stable")
    late = order[late_s[order] > 0]
    ahead_s = late_s[late].max() - late_s[late]
    return late, ahead_s * thz.subband_hz * thz.subbands / (8.0 * max(size, 1))


def air_times(setting: Setting) -> FloatArray:
    """What a link takes of both its racks' time for the whole tensor, in units of load."""
    rate = setting.link_rates
    airtime: FloatArray = 1 / np.maximum(rate, max(rate.max() / _WORST_LINK, 1e-9))
    return airtime


def _load(met: Meeting, airtime: FloatArray, early: FloatArray) -> float:
    """Load of the busiest rack from the last release on."""
    spreading, gathering = np.zeros(len(airtime)), np.zeros(len(airtime))
    for share, root, parent in zip(met.shares, met.roots.tolist(), met.spreads, strict=True):
        for v in np.flatnonzero(parent >= 0):
            spreading[[v, parent[v]]] += share * airtime[v, parent[v]]
        for late in met.late:
            if late != root:
                gathering[[late, root]] += share * airtime[late, root]
    those = list(met.late)
    gathering[those] = np.maximum(gathering[those] - early, 0.0)
    return float((spreading + gathering).max())


def path_load(setting: Setting, order: IntArray, size: int) -> float:
    """Load of the busiest rack if one path does it all, its root being the latest rack.

    Besides the sums, a link carries the data of the stragglers beyond it to the root; what has
    passed before the latest one comes, on half of the subbands, is no load.
    """
    late, early = late_racks(setting, size)
    airtime = air_times(setting)
    place = np.argsort(order)
    root, load = int(place[late[-1]]), np.zeros(len(order))
    takes = airtime[order[:-1], order[1:]]
    for k in range(len(order) - 1):
        beyond = place[late] > k if k >= root else place[late] <= k
        ahead = early[beyond].min(initial=np.inf)
        left = max(0.0, 1.0 - ahead / (2 * takes.max()))
        load[order[k : k + 2]] += (1.0 + left) * takes[k]
    return float(load.max())
