"""AllReduce with two late racks: their data meets at helpers before the sums are spread.

What everybody else has is summed up while the late racks are waited for. When their data comes it
has to meet: either one sends to the other, or both send to a third rack, a helper, which adds up
and spreads. Straight is best where they stand near each other, helpers where they do not, and many
helpers share the work. The tensor is cut into shards, each with a root of its own; a shard's sums
run along a path whose ends are the late racks, since an end has only half of the work of the
others. Shares are chosen so that the busiest rack has least to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.synthesis.method import Setting
from thzsync.synthesis.paths import link_rates, route_cost
from thzsync.transfers import Flow

LEAST_SHARE: Final = 0.02
"""A smaller part of the tensor is not worth its flows."""
MOST_ROOTS: Final = 6
"""Roots at most: every one has flows of its own, and rounds are formed from all of them."""
DISCIPLINE: Final = "sustained-chunk"


@dataclass(frozen=True, eq=False)
class Meeting:
    """The shards of one tensor, each with its root and the orders of its sums and its spreading."""

    racks: IntArray
    """All racks of the event."""
    late: tuple[int, int]
    """Positions of the late racks, the later one last."""
    order: IntArray
    """Positions along the path by which sums are spread."""
    roots: tuple[int, ...]
    shares: FloatArray
    """Part of the tensor of every root."""
    sums: tuple[IntArray, ...]
    """Positions along the path by which every root collects what is not late."""

    def links(self) -> tuple[IntArray, IntArray]:
        """Sources and destinations of the links by which sums are spread, in one direction."""
        along = self.racks[self.order]
        return along[:-1], along[1:]

    def flows(self, size: int, shard: int = 0, first: int = 0, thz: bool = False) -> list[Flow]:
        """Flows ``first``, ... of shards ``shard``, ... that reduce and spread so many bytes."""
        cuts = np.rint(np.cumsum(self.shares) / self.shares.sum() * size).astype(np.int64)
        parts = np.diff(cuts, prepend=0).tolist()
        flows: list[Flow] = []
        for root, sums, part in zip(self.roots, self.sums, parts, strict=True):
            if part:
                flows += self._shard(root, sums, part, shard, first + len(flows), thz)
                shard += 1
        return flows

    def _shard(
        self, root: int, sums: IntArray, size: int, shard: int, first: int, thz: bool
    ) -> list[Flow]:
        flows: list[Flow] = []

        def add(src: int, dst: int, after: list[int], local: bool, reduces: bool) -> list[int]:
            flows.append(
                Flow(
                    int(self.racks[src]), int(self.racks[dst]), size, after=tuple(after),
                    local=local, shard=shard, reduces=reduces, bundled=False, thz=thz,
                    discipline=DISCIPLINE,
                )
            )  # fmt: skip
            return [first + len(flows) - 1]

        arrived: list[int] = []
        for arm in _arms(sums, root):
            before: list[int] = []
            for far, near in zip(arm[:0:-1], arm[-2::-1], strict=True):
                before = add(far, near, before, local=True, reduces=True)
            arrived += before
        for late in self.late:
            if late != root:
                arrived += add(late, root, [], local=True, reduces=True)
        for arm in _arms(self.order, root):
            before = arrived
            for near, far in pairwise(arm):
                before = add(near, far, before, local=near == root, reduces=False)
        return flows


def _arms(order: IntArray, root: int) -> list[list[int]]:
    """A path from its root to either end, where there is anybody."""
    place = int(np.flatnonzero(order == root)[0])
    arms = [order[place::-1].tolist(), order[place:].tolist()]
    return [arm for arm in arms if len(arm) > 1]


def meeting(setting: Setting, racks: IntArray, size: int) -> tuple[Meeting, float]:
    """The best shares found for two late racks among four or more, and the busiest rack's load.

    Loads are in units of the time in which all subbands of a rack would carry ``size`` bytes at one
    bit per second and hertz, counted from the later rack's release.
    """
    from thzsync.synthesis.routes import strongest_between, strongest_route

    lateness = setting.delay_s
    sooner, later = np.argsort(lateness, kind="stable")[-2:].tolist()
    rate = link_rates(setting)
    cost = route_cost(rate)
    order = strongest_between(cost, later, sooner)
    airtime = 1 / np.maximum(rate, 1e-9)
    early = head_start(setting, size)
    roots, shares, load = _balance(airtime, order, sooner, later, early)
    sums = []
    for root in roots:
        there = np.flatnonzero((lateness <= 0) | (np.arange(len(racks)) == root))
        sums.append(there[strongest_route(np.ascontiguousarray(cost[np.ix_(there, there)]), False)])
    return Meeting(racks, (sooner, later), order, tuple(roots), shares, tuple(sums)), load


def head_start(setting: Setting, size: int) -> float:
    """How much sooner one late rack's data comes than the other's, in units of load."""
    sooner_s, later_s = np.sort(setting.delay_s)[-2:].tolist()
    thz = setting.thz
    return float((later_s - sooner_s) * thz.subband_hz * thz.subbands / (8.0 * max(size, 1)))


def path_load(setting: Setting, order: IntArray, size: int) -> float:
    """Load of the busiest rack if one path does it all, its root being the later rack.

    Between the late racks a path carries the sooner one's data to the root besides the sums; what
    has passed before the later one comes, on half of the subbands, is no load.
    """
    lateness = setting.delay_s
    sooner, later = np.argsort(lateness, kind="stable")[-2:].tolist()
    airtime = 1 / np.maximum(link_rates(setting), 1e-9)
    place = np.argsort(order)
    low, high = sorted((int(place[sooner]), int(place[later])))
    slowest = max(airtime[order[k], order[k + 1]] for k in range(low, high))
    left = max(0.0, 1.0 - head_start(setting, size) / (2 * slowest))
    load = np.zeros(len(order))
    for k in range(len(order) - 1):
        times = 1.0 + left * (low <= k < high)
        load[[order[k], order[k + 1]]] += times * airtime[order[k], order[k + 1]]
    return float(load.max())


def _balance(
    airtime: FloatArray, order: IntArray, sooner: int, later: int, early: float
) -> tuple[list[int], FloatArray, float]:
    """Roots, their shares and the busiest rack's load, which is nearly the least possible."""
    base = np.zeros(len(order))
    for u, v in pairwise(order.tolist()):
        base[[u, v]] += airtime[u, v]
    spare = base.copy()
    spare[sooner] -= early
    both = airtime[sooner] + airtime[later]
    both[[sooner, later]] = 2 * airtime[sooner, later]
    low, high = float(base.max()), float(base.max() + 2 * both.max())
    shares = np.zeros(len(order))
    shares[later] = 1.0
    for _ in range(20):
        limit = (low + high) / 2
        tried = _fill(airtime, spare, both, sooner, later, limit)
        if tried.sum() > 1 - 1e-9:
            high, shares = limit, tried
        else:
            low = limit
    straight = shares[later]
    if straight:  # what is there early goes to the later rack, of the rest half each way
        ahead = min(1.0, early / (airtime[sooner, later] * straight))
        shares[later], shares[sooner] = straight * (1 + ahead) / 2, straight * (1 - ahead) / 2
    roots = np.argsort(-shares, kind="stable")[:MOST_ROOTS]
    roots = roots[shares[roots] > 0]
    return roots.tolist(), shares[roots], high


def _fill(
    airtime: FloatArray, base: FloatArray, both: FloatArray, sooner: int, later: int, limit: float
) -> FloatArray:
    """Shares by root, cheapest first, nobody's load above the limit; ``later`` stands for both."""
    shares, left = np.zeros(len(base)), 1.0
    slack = {rack: limit - base[rack] for rack in (sooner, later)}
    for root in np.argsort(both, kind="stable").tolist():
        if root == sooner:
            continue
        other = {sooner: later, later: sooner}
        each = {rack: airtime[rack, other[rack] if root == later else root] for rack in slack}
        most = min(left, *(slack[rack] / each[rack] for rack in slack))
        if root != later:
            most = min(most, (limit - base[root]) / both[root])
        if most < min(LEAST_SHARE, left):
            continue
        shares[root] = most
        left -= most
        for rack in slack:
            slack[rack] -= most * each[rack]
    return shares
