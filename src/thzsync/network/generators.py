"""Networks from a few numbers: the paper's rings, leaf and spine, fat trees, rails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thzsync.arrays import IntArray, memory_bytes, size_text
from thzsync.errors import ThzSyncError
from thzsync.network.forwarding import PathRules
from thzsync.network.network import Buffers, Network
from thzsync.network.routing import forward

PS_PER_M = 4_900
"""Propagation delay of fibre [ps/m], at two thirds of the speed of light."""
ENERGY_J_PER_BIT = 40e-12
MOST_LINKS = 4_000_000
"""Directed links of a generated network."""


@dataclass
class Wires:
    """Links as they are laid; `network` numbers them: from racks, to racks, between switches."""

    racks: int
    switch_names: list[str] = field(default_factory=list)
    ends: list[tuple[int, int, float, float, int, int]] = field(default_factory=list)

    def switch(self, name: str) -> int:
        """A new switch; its node."""
        self.switch_names.append(name)
        return self.racks + len(self.switch_names) - 1

    def join(
        self,
        a: int,
        b: int,
        rate_bps: float,
        delay_ps: float = 0.0,
        cost: int = 1,
        dimension: int = 0,
    ) -> None:
        """A fibre between two nodes: a link in each direction; see `PathRules` for the last two."""
        check_rate("a link", rate_bps)
        facts = (rate_bps, delay_ps, cost, dimension)
        self.ends += [(a, b, *facts), (b, a, *facts)]

    def network(
        self,
        buffers: Buffers,
        energy_j_per_bit: float = ENERGY_J_PER_BIT,
        sprayed: bool = False,
        updown: bool = False,
    ) -> Network:
        """The network of all links laid so far."""
        check_size(self.racks, len(self.switch_names), len(self.ends))
        table = np.array(self.ends, dtype=np.float64).reshape(-1, 6)
        source, target = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        role = np.where(source < self.racks, 0, np.where(target < self.racks, 1, 2))
        node = np.where(role == 1, target, source)
        order = np.lexsort((np.arange(len(table)), node, role))
        source, target, table = source[order], target[order], table[order]
        return _network(
            self.racks,
            self.switch_names,
            source,
            target,
            np.rint(table[:, 2]).astype(np.int64),
            np.rint(table[:, 3]).astype(np.int64),
            energy_j_per_bit,
            buffers,
            sprayed,
            _rules(updown, *table[:, 4:].astype(np.int64).T),
        )


def check_size(racks: int, switches: int, links: int) -> None:
    """Refuse networks whose tables, by pairs of switches and racks, surely do not fit."""
    needed, here = 4 * switches * racks + 17 * switches**2, memory_bytes()
    if needed > here:
        raise ThzSyncError(
            f"network: {switches} switches and {racks} racks take {size_text(needed)} of "
            f"memory and this machine has {size_text(here)}; use a smaller network"
        )
    if links > MOST_LINKS:
        raise ThzSyncError(
            f"network: {links} links in one direction each; use at most {MOST_LINKS}, with fewer "
            "racks or spines"
        )


def _rules(updown: bool, cost: IntArray, dimension: IntArray) -> PathRules:
    """What is not the same for all links."""
    costs = cost if (cost != 1).any() else None
    return PathRules(updown, costs, dimension if dimension.any() else None)


def check_rate(name: str, bps: float) -> None:
    """Refuse rates beyond what packets are timed exactly for."""
    if not 1 <= bps < 1e15:
        raise ThzSyncError(f"network: {name} is {bps}; use 1 bit/s to 1 Pbit/s")


def rings(
    ring_of_rack: Sequence[int] | IntArray,
    *,
    access_bps: float = 100e9,
    inter_bps: float = 100e9,
    energy_j_per_bit: float = ENERGY_J_PER_BIT,
    buffers: Buffers | None = None,
) -> Network:
    """A switch per ring, and a link from every switch to every other (eq:wired_path).

    Links are numbered ``i`` from rack i to its switch, ``racks + i`` back, and
    ``2 racks + s rings + t`` from switch s to switch t, where s = t is a gap.
    """
    ring = np.ascontiguousarray(ring_of_rack, dtype=np.int64)
    if len(ring) == 0 or ring.min() < 0:
        raise ThzSyncError("network: ring_of_rack must name a ring from 0 for every rack")
    check_rate("access_bps", access_bps)
    check_rate("inter_bps", inter_bps)
    racks, switches = len(ring), int(ring.max()) + 1
    rack, switch = np.arange(racks), np.arange(switches)
    s, t = np.repeat(switch, switches), np.tile(switch, switches)
    rate = np.full(2 * racks + switches**2, round(inter_bps), dtype=np.int64)
    rate[: 2 * racks] = round(access_bps)
    rate[2 * racks + np.flatnonzero(s == t)] = 0
    return _network(
        racks,
        [f"switch {s}" for s in range(switches)],
        np.concatenate((rack, racks + ring, racks + s)),
        np.concatenate((racks + ring, rack, racks + t)),
        rate,
        np.zeros(len(rate), dtype=np.int64),
        energy_j_per_bit,
        buffers or Buffers(),
    )


@dataclass(frozen=True)
class Fibres:
    """What all links of a network have in common."""

    access_bps: float = 100e9
    """Rate of a link between a rack and a switch [bit/s]."""
    oversubscription: float = 1.0
    """How many times the racks can overload the links above their switch."""
    access_length_m: float = 0.0
    switch_length_m: float = 0.0
    energy_j_per_bit: float = ENERGY_J_PER_BIT
    buffers: Buffers = field(default_factory=Buffers)
    sprayed: bool = False

    @property
    def access_ps(self) -> float:
        """Propagation delay of a link between a rack and a switch [ps]."""
        return self.access_length_m * PS_PER_M

    @property
    def switch_ps(self) -> float:
        """Propagation delay of a link between switches [ps]."""
        return self.switch_length_m * PS_PER_M


def leaf_spine(
    racks: int,
    racks_per_leaf: int,
    spines: int,
    fibres: Fibres | None = None,
    *,
    nics: int = 1,
    planes: bool = False,
) -> Network:
    """Leaf switches for every group of racks, spines above them (a folded Clos network).

    With several ``nics`` per rack there is a leaf per group and NIC, as in a rail-optimised
    network; every spine joins all leaves, or those of one NIC if the network has ``planes``.
    """
    given = fibres or Fibres()
    wires = Wires(racks)
    groups = -(-racks // racks_per_leaf)
    switches = nics * groups + spines * (nics if planes else 1)
    check_size(racks, switches, 2 * nics * (racks + groups * spines))
    label = "leaf" if nics == 1 else "plane" if planes else "rail"
    leaves = [
        [
            wires.switch(f"{label} {g}" if nics == 1 else f"{label} {n} leaf {g}")
            for g in range(groups)
        ]
        for n in range(nics)
    ]
    for rack in range(racks):
        for own in leaves:
            wires.join(rack, own[rack // racks_per_leaf], given.access_bps, given.access_ps)
    if groups > 1:
        up_bps = racks_per_leaf * given.access_bps / (spines * given.oversubscription)
        for lot, served in enumerate(
            leaves if planes else [[leaf for own in leaves for leaf in own]]
        ):
            for number in range(spines):
                prefix = f"plane {lot} " if planes else ""
                spine = wires.switch(f"{prefix}spine {number}")
                for leaf in served:
                    wires.join(leaf, spine, up_bps, given.switch_ps)
    return wires.network(given.buffers, given.energy_j_per_bit, given.sprayed)


def fat_tree(racks: int, radix: int, fibres: Fibres | None = None) -> Network:
    """Three levels of switches with ``radix`` ports: edges and aggregations in pods, cores above.

    With oversubscription the links between switches are slower. Pods without racks are left out.
    """
    given, half = fibres or Fibres(), radix // 2
    if radix < 2 or radix % 2 or racks > radix * half * half:
        most = max(radix, 0) * max(half, 0) ** 2
        raise ThzSyncError(
            f"network: a fat tree of switches with {radix} ports joins {most} racks, not {racks}; "
            "use an even radix, and a larger one"
        )
    wires, up_bps = Wires(racks), given.access_bps / given.oversubscription
    pods = -(-racks // (half * half))
    check_size(racks, pods * radix + half * half, 2 * (racks + 2 * pods * half * half))
    edges, aggregations = [], []
    for pod in range(pods):
        edges += [wires.switch(f"pod {pod} edge {k}") for k in range(half)]
        aggregations += [wires.switch(f"pod {pod} aggregation {k}") for k in range(half)]
    for rack in range(racks):
        wires.join(rack, edges[rack // half], given.access_bps, given.access_ps)
    for pod in range(pods):
        for edge in edges[pod * half : (pod + 1) * half]:
            for above in aggregations[pod * half : (pod + 1) * half]:
                wires.join(edge, above, up_bps, given.switch_ps)
    if pods > 1:
        for core in range(half * half):
            top = wires.switch(f"core {core}")
            for pod in range(pods):
                below = aggregations[pod * half + core // half]
                wires.join(below, top, up_bps, given.switch_ps)
    return wires.network(given.buffers, given.energy_j_per_bit, given.sprayed)


def _network(
    racks: int,
    names: Sequence[str],
    source: IntArray,
    target: IntArray,
    rate_bps: IntArray,
    delay_ps: IntArray,
    energy_j_per_bit: float,
    buffers: Buffers,
    sprayed: bool = False,
    rules: PathRules | None = None,
) -> Network:
    rules = rules or PathRules()
    return Network(
        racks=racks,
        switches=len(names),
        source=source,
        target=target,
        rate_bps=rate_bps,
        delay_ps=delay_ps,
        energy_j_per_bit=np.full(len(rate_bps), energy_j_per_bit),
        forwarding=forward(racks, len(names), source, target, rate_bps > 0, rules),
        buffers=buffers,
        switch_names=tuple(names),
        sprayed=sprayed,
        rules=rules,
    )
