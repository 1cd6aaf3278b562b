"""Building forwarding tables: for every switch and rack, the output links on allowed paths.

Racks behind the same switches are a *class*: only the last switch tells them apart. So tables are
worked out by class, and their size grows with switches times racks, not with pairs of racks.

Queues of links between switches have *ranks*: a packet only ever moves to a queue of a lower rank.
That is why lossless backpressure cannot stand still (optical/grants.py has the proof). A network in
which queues could wait for each other in a circle has no such ranks and is refused.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.network.forwarding import Forwarding, PathRules


class Circle(ThzSyncError):
    """Queues of a network could wait for each other in a circle."""


FAR = 1 << 14
"""Number of links to what cannot be reached."""


class _Graph:
    """Links of a network by what they join."""

    def __init__(
        self, racks: int, switches: int, source: IntArray, target: IntArray, real: BoolArray
    ) -> None:
        self.racks, self.switches = racks, switches
        self.start, self.end = source - racks, target - racks
        from_rack, to_rack = real & (self.start < 0), real & (self.end < 0)
        self.up, self.down = np.flatnonzero(from_rack), np.flatnonzero(to_rack)
        self.between = np.flatnonzero(real & ~from_rack & ~to_rack)
        self.source, self.target, self.links = source, target, len(source)
        if (from_rack & to_rack).any():
            raise ThzSyncError("network: a link joins two racks; put a switch between them")

    def by_node(self, links: IntArray, node: IntArray) -> dict[int, list[int]]:
        """Links by one of their ends."""
        found: dict[int, list[int]] = defaultdict(list)
        for link, end in zip(links.tolist(), node[links].tolist(), strict=True):
            found[end].append(link)
        return found

    def classes(self) -> tuple[IntArray, list[tuple[list[int], list[int]]]]:
        """The class of every rack; the switches behind the links from and to racks of each."""
        up, down = self.by_node(self.up, self.source), self.by_node(self.down, self.target)
        known: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        of_rack = np.zeros(self.racks, dtype=np.int64)
        for rack in range(self.racks):
            leaves = (
                tuple(sorted({int(self.end[q]) for q in up[rack]})),
                tuple(sorted({int(self.start[q]) for q in down[rack]})),
            )
            if not all(leaves):
                raise ThzSyncError(f"network: rack {rack} needs a link to a switch and one back")
            of_rack[rack] = known.setdefault(leaves, len(known))
        return of_rack, [(list(a), list(b)) for a, b in known]

    def costs_between(self, cost: IntArray) -> IntArray:
        """Length of the shortest paths between switches whose links have costs."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        ends = (self.start[self.between], self.end[self.between])
        joined = coo_array((cost.astype(np.float64), ends), shape=(self.switches, self.switches))
        far = shortest_path(joined.tocsr())
        return np.where(np.isinf(far), FAR, far).astype(np.int64)

    def hops_between(self) -> IntArray:
        """Links between switches on the shortest paths."""
        joined = np.zeros((self.switches, self.switches), dtype=np.float32)
        joined[self.start[self.between], self.end[self.between]] = 1
        reached = np.eye(self.switches, dtype=np.bool_)
        hops = np.where(reached, 0, FAR)
        for step in range(1, self.switches):
            if step > 8:  # few networks are so wide; SciPy is slow to import and fast to search
                return self.costs_between(np.ones(len(self.between), dtype=np.int64))
            more = (reached.astype(np.float32) @ joined > 0) & (hops == FAR)
            if not more.any():
                break
            hops[more] = step
            reached = more
        return hops


def forward(
    racks: int,
    switches: int,
    source: IntArray,
    target: IntArray,
    real: BoolArray,
    rules: PathRules,
    rank: IntArray | None = None,
) -> Forwarding:
    """Tables of the paths that the rules allow.

    The links of a part of a network have the ``rank`` that they have in the whole, by which flows
    pick their paths; and racks of a part may be cut off from each other.
    """
    graph = _Graph(racks, switches, source, target, real)
    of_rack, leaves = graph.classes()
    if rules.updown:
        to_rack, used = _going_down(graph, leaves)
    else:
        to_rack, used = _nearer(graph, leaves, rules)
    used &= _come_by(graph, leaves, used)
    return _Tables(graph, of_rack, leaves, to_rack, used, rank).made(partial=rank is not None)


def _come_by(
    graph: _Graph, leaves: list[tuple[list[int], list[int]]], used: BoolArray
) -> BoolArray:
    """For links between switches and classes: whether packets for the class ever come there."""
    start, end = graph.start[graph.between], graph.end[graph.between]
    here = np.zeros((graph.switches, len(leaves)), dtype=np.bool_)
    here[graph.end[graph.up]] = True
    while True:
        coming = used & here[start]
        more = here.copy()
        np.logical_or.at(more, end, coming)
        if (more == here).all():
            return coming
        here = more


def _nearer(
    graph: _Graph, leaves: list[tuple[list[int], list[int]]], rules: PathRules
) -> tuple[IntArray, BoolArray]:
    """Links from switches to racks of every class; which links between switches come nearer."""
    start, end = graph.start[graph.between], graph.end[graph.between]
    cost = np.ones(len(start), dtype=np.int64)
    if rules.cost is not None:
        cost = rules.cost[graph.between]
    far = graph.hops_between() if rules.cost is None else graph.costs_between(cost)
    to_rack = np.stack([1 + far[:, down].min(axis=1) for _, down in leaves], axis=1)
    before, after = to_rack[start], to_rack[end]
    used = (before == after + cost[:, None]) & (before < FAR)
    if rules.dimension is not None:
        dimension = rules.dimension[graph.between][:, None]
        lowest = np.full(to_rack.shape, FAR)
        np.minimum.at(lowest, start, np.where(used, dimension, FAR))
        used &= dimension == lowest[start]
    if rules.cost is not None:
        to_rack = _links_to_rack(start, end, used, to_rack)
    return to_rack, used


def _links_to_rack(start: IntArray, end: IntArray, used: BoolArray, cost: IntArray) -> IntArray:
    """How many links paths have, where these cost differently."""
    links = np.where(cost == 1, 1, FAR)
    while True:
        fewer = links.copy()
        np.minimum.at(fewer, start, np.where(used, links[end] + 1, FAR))
        if (fewer == links).all():
            return links
        links = fewer


def _going_down(
    graph: _Graph, leaves: list[tuple[list[int], list[int]]]
) -> tuple[IntArray, BoolArray]:
    """The same where packets first go up and then down the levels of a tree, never up again.

    A switch that can reach a rack by going down alone does so, and what comes down stays on such
    ways; so tables by destination suffice. The root is the switch with most links.
    """
    start, end = graph.start[graph.between], graph.end[graph.between]
    root = int(np.argmax(np.bincount(start, minlength=graph.switches)))
    level = graph.hops_between()[:, root] * graph.switches + np.arange(graph.switches)
    level[root] = 0
    rises = level[end] < level[start]
    down = np.full((graph.switches, len(leaves)), FAR)
    for c, (_, last) in enumerate(leaves):
        down[last, c] = 1
    order = np.argsort(level)
    for s in order[::-1]:  # from the furthest on: all that is below a switch is known
        for t in end[(start == s) & ~rises]:
            down[s] = np.minimum(down[s], down[t] + 1)
    total = down.copy()
    for s in order:
        for t in end[(start == s) & rises]:
            total[s] = np.where(down[s] < FAR, down[s], np.minimum(total[s], total[t] + 1))
    falls = ~rises[:, None] & (down[start] < FAR) & (down[end] == down[start] - 1)
    climbs = rises[:, None] & (down[start] >= FAR) & (total[end] == total[start] - 1)
    return total, (falls | climbs) & (total[start] < FAR)


class _Tables:
    """From the links that may be used towards every class to tables of entries."""

    def __init__(
        self,
        graph: _Graph,
        of_rack: IntArray,
        leaves: list[tuple[list[int], list[int]]],
        to_rack: IntArray,
        used: BoolArray,
        rank: IntArray | None,
    ) -> None:
        self.graph, self.of_rack, self.leaves = graph, of_rack, leaves
        self.to_rack, self.used = to_rack, used
        self.rank = self._ranks() if rank is None else rank
        self.groups: list[int] = []
        self.known: dict[tuple[int, ...], int] = {}

    def entry(self, links: list[int]) -> int:
        """The entry for some equally good links."""
        if len(links) == 1:
            return links[0]
        key = tuple(links)
        if key not in self.known:
            self.known[key] = -1 - len(self.groups)
            self.groups += [len(links), 8 * (int(self.rank[links[0]]) % 7), *links]
        return self.known[key]

    def entries(self, links: IntArray, usable: BoolArray) -> IntArray:
        """For every column the entry of the links that are usable in it; 0 where none is."""
        if not len(links):
            return np.zeros(usable.shape[1], dtype=np.int64)
        kinds, kind = np.unique(usable, axis=1, return_inverse=True)
        found = [self.entry(links[column].tolist()) if column.any() else 0 for column in kinds.T]
        return np.array(found, dtype=np.int64)[kind.reshape(-1)]

    def made(self, partial: bool) -> Forwarding:
        """The tables; refused where there is no path, or queues could wait in a circle."""
        graph, distance = self.graph, self._distance()
        if not partial:
            self._check_reach(distance)
        table = np.zeros((graph.switches, graph.racks), dtype=np.int32)
        own = graph.by_node(np.arange(len(graph.between)), graph.start[graph.between])
        for s, rows in own.items():
            row = self.entries(graph.between[rows], self.used[rows])
            table[s] = row[self.of_rack]
        ports = defaultdict(list)
        for q in graph.down.tolist():
            ports[int(graph.start[q]), int(graph.target[q])].append(q)
        for (s, rack), links in ports.items():
            table[s, rack] = self.entry(links)
        nic_table = self._nic_table()
        return Forwarding(
            table=table,
            nic_table=nic_table,
            groups=np.array(self.groups or [0], dtype=np.int64),
            class_of_rack=self.of_rack,
            distance=distance,
            rank=self.rank,
        )

    def _distance(self) -> IntArray:
        """Links between racks of classes."""
        return np.stack([1 + self.to_rack[up].min(axis=0) for up, _ in self.leaves])

    def _check_reach(self, distance: IntArray) -> None:
        lost = np.argwhere(distance >= FAR)
        if len(lost):
            a, b = (int(np.argmax(self.of_rack == c)) for c in lost[0])
            raise ThzSyncError(f"network: there is no path from rack {a} to rack {b}; add links")

    def _nic_table(self) -> AnyArray:
        graph = self.graph
        up = graph.by_node(graph.up, graph.source)
        if all(len(links) == 1 for links in up.values()):
            return np.array([up[rack] for rack in range(graph.racks)], dtype=np.int32)
        table = np.zeros((graph.racks, len(self.leaves)), dtype=np.int32)
        for rack in range(graph.racks):
            links = np.array(up[rack])
            far = self.to_rack[graph.end[links]]
            table[rack] = self.entries(links, far == far.min(axis=0))
        return table

    def _ranks(self) -> IntArray:
        """How many queues a packet may still pass behind every link's, at most."""
        graph = self.graph
        rank = np.full(graph.links, -1, dtype=np.int64)
        rank[graph.down] = 0
        before, after = self._waits()
        own = np.ones(len(graph.between), dtype=np.int64)
        for _ in range(len(own) + 1):
            more = own.copy()
            np.maximum.at(more, before, own[after] + 1)
            if (more == own).all():
                rank[graph.between] = own
                return rank
            own = more
        circle = self._circle(before, after)
        raise Circle(
            f"network: its queues could wait for each other in a circle ({circle}),"
            " so lossless traffic could stand still; use network.paths = 'up-down', or remove links"
        )

    def _waits(self) -> tuple[IntArray, IntArray]:
        """Pairs of links between switches: a packet of the first may go on to the second."""
        graph = self.graph
        into = graph.by_node(np.arange(len(graph.between)), graph.end[graph.between])
        out = graph.by_node(np.arange(len(graph.between)), graph.start[graph.between])
        used = self.used.astype(np.float32)
        pairs = []
        for s, arriving in into.items():
            leaving = out.get(s, [])
            first, second = np.nonzero(used[arriving] @ used[leaving].T)
            pairs.append((np.array(arriving)[first], np.array(leaving, dtype=np.int64)[second]))
        if not pairs:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        before, after = (np.concatenate(column) for column in zip(*pairs, strict=True))
        return before, after

    def _circle(self, before: IntArray, after: IntArray) -> str:
        """One of the circles, by the names of its switches."""
        following = defaultdict(list)
        for a, b in zip(before.tolist(), after.tolist(), strict=True):
            following[a].append(b)
        alive = set(following)
        while dead := {a for a in alive if not alive.intersection(following[a])}:
            alive -= dead
        at, seen = min(alive), []
        while at not in seen:
            seen.append(at)
            at = next(b for b in following[at] if b in alive)
        graph = self.graph
        steps = [int(graph.start[graph.between[q]]) for q in seen[seen.index(at) :]]
        return " -> ".join(f"switch {s}" for s in (*steps, steps[0]))
