"""Transfers from pair to pair: free, in permutations, or over a third rack where a pair is weak.

A permutation is one configuration of the overlay: every rack has one link out and one link in,
each on a subband of its own, and the links are kept until all of its transfers are complete.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import count, pairwise

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.collectives import Demand
from thzsync.synthesis.method import Setting
from thzsync.synthesis.offer import Offer
from thzsync.synthesis.stragglers import air_times
from thzsync.transfers import Flow, TransferGraph, direct_graph, graph_of

Way = tuple[int, ...]
"""Racks that a chunk visits, by position: two, or three with a relay."""


@dataclass(frozen=True)
class FreeTransfers:
    """Every chunk may go as soon as its source has it: no predetermined permutation."""

    collective: str

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One flow per block."""
        return direct_graph(self.collective, demand, racks, chunk_bytes, "matching")


class Rotation:
    """Free transfers of an All-to-All in an order in which no two racks send to the same one.

    On fibre a rack's flows take turns packet by packet in this order. If all began with rack 0, its
    queue would fill and hold up what is for others. Behind one leaf the order is i + 1, i + 2, ...
    With several leaves, every flow of a rack is for another leaf than the one before, and the racks
    of a leaf begin with different leaves. So no link between leaves has to wait for its turn.
    """

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One flow per pair."""
        free = direct_graph("a2a", demand, racks, chunk_bytes, "matching")
        src, dst = np.searchsorted(racks, free.src), np.searchsorted(racks, free.dst)
        leaf, port = setting.leaf_and_port
        leaves, ports = leaf.max(initial=0) + 1, port.max(initial=0) + 1
        turn = (port[dst] - port[src]) % ports
        within = (leaf[dst] - leaf[src] - port[src]) % leaves
        order = np.lexsort((src, within, turn))
        return replace(
            free,
            src=free.src[order],
            dst=free.dst[order],
            flow_bytes=free.flow_bytes[order],
            block=free.block[order],
        )


class DemandSorted:
    """One-to-one permutations, greatest remaining demands first, each completed before the next.

    A permutation completes its pairs' demands, so what remains are the pairs not yet chosen.
    """

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One barrier stage per permutation."""
        pairs = direct_graph("a2a", demand, racks, chunk_bytes, "assignment", bundled=True)
        return replace(pairs, stage=_permutations(pairs))


class Cyclic:
    """Offset 1, 2, ...: rack i serves rack i + offset; an offset completes before the next."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """One barrier stage per cyclic offset."""
        pairs = direct_graph("a2a", demand, racks, chunk_bytes, "assignment", bundled=True)
        src, dst = np.searchsorted(racks, pairs.src), np.searchsorted(racks, pairs.dst)
        return replace(pairs, stage=(dst - src) % len(racks) - 1)


def _permutations(plan: TransferGraph) -> IntArray:
    """The first permutation for every flow in which neither of its racks is taken."""
    stage = np.zeros(plan.flows, dtype=np.int64)
    sends, receives = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for flow in np.argsort(-plan.flow_bytes, kind="stable").tolist():
        taken = sends[int(plan.src[flow])], receives[int(plan.dst[flow])]
        stage[flow] = number = next(k for k in count() if not any(k in t for t in taken))
        for permutations in taken:
            permutations.add(number)
    return stage


@dataclass(frozen=True)
class Relayed:
    """All-to-All in which weak pairs go over third racks on THz, in two hops.

    A pair is weak if two hops over some other rack take less time of all racks together than the
    direct link: on the paper's floor that is a blocked pair, hardly ever a distant one. Its chunks
    go, one by one, the way whose busiest rack has least to do then: direct or over any of the racks
    that pay. The order of what is passed on matters, so links keep all flows at the same progress.
    Where no pair is weak, and on fibre, everything goes straight.

    The policy decides, pair by pair, how many chunks go by THz, on whichever way.
    """

    collective: str = "a2a"
    name: str = "sustained-relayed"
    summary: str = "sustained, but weak pairs over third racks on THz"

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        """One unit per pair."""
        direct = Rotation().plan(demand, racks, chunk_bytes, setting)
        direct = replace(direct, method=self.name, disciplines=("sustained",))
        airtime = air_times(setting)
        src, dst = np.searchsorted(racks, direct.src), np.searchsorted(racks, direct.dst)
        weak = weak_pairs(airtime)[src, dst]
        offer = Offer.per_flow(direct)
        if not weak.any():
            return offer

        def lower(thz_chunks: IntArray) -> TransferGraph:
            on_thz = np.minimum(thz_chunks * chunk_bytes, direct.flow_bytes)
            flows = _flows(direct, on_thz, weak, airtime, offer.sending(thz_chunks))
            return replace(
                graph_of(self.collective, demand, racks, chunk_bytes, flows), method=self.name
            )

        return replace(offer, lower=lower, per_unit=False)


def _flows(
    direct: TransferGraph,
    on_thz: IntArray,
    weak: BoolArray,
    airtime: FloatArray,
    powered: BoolArray,
) -> list[Flow]:
    """What is left to the fibre straight, what goes on THz by the ways that its pairs take.

    Only racks that send something of their own on THz are ``powered``, and may pass on.
    """
    racks, chunk_bytes = direct.racks, direct.chunk_bytes
    src, dst = np.searchsorted(racks, direct.src), np.searchsorted(racks, direct.dst)
    load, flows = np.zeros(len(racks)), list[Flow]()
    for f in np.argsort(weak, kind="stable").tolist():  # strong pairs have no choice
        pair, part = (int(src[f]), int(dst[f])), int(on_thz[f])
        ways: dict[Way, int] = {pair: part} if part else {}
        if weak[f]:
            ways = _ways(airtime, load, np.flatnonzero(powered), *pair, part, chunk_bytes)
        else:
            load[list(pair)] += part * airtime[pair]
        block, shard = int(direct.block[f]), f
        if part < direct.flow_bytes[f]:
            left = int(direct.flow_bytes[f]) - part
            flows += _along(racks, pair, left, block, shard, len(flows), thz=False)
            shard += direct.flows
        for way, size in ways.items():
            flows += _along(racks, way, size, block, shard, len(flows), thz=True)
            shard += direct.flows
    return flows


def weak_pairs(airtime: FloatArray) -> BoolArray:
    """Pairs for which some two hops take less time than the direct link."""
    by_relay = airtime.copy()
    np.fill_diagonal(by_relay, np.inf)
    weak = np.zeros(airtime.shape, dtype=np.bool_)
    for i in range(len(airtime)):
        weak[i] = (by_relay[i][:, None] + by_relay).min(axis=0) < airtime[i]
        weak[i, i] = False
    return weak


def _ways(
    airtime: FloatArray, load: FloatArray, relays: IntArray, src: int, dst: int, size: int,
    chunk_bytes: int,
) -> dict[Way, int]:  # fmt: skip
    """Bytes of a weak pair by way; adds what they take to the racks' loads."""
    ways: list[Way] = [(src, dst)]
    for relay in relays.tolist():
        both = airtime[src, relay] + airtime[relay, dst]
        if relay not in (src, dst) and both < airtime[src, dst]:
            ways.append((src, relay, dst))
    taken = np.zeros((len(ways), len(load)))
    for way, row in zip(ways, taken, strict=True):
        for u, v in pairwise(way):
            row[[u, v]] += airtime[u, v]
    used: Counter[Way] = Counter()
    for sent in range(0, size, chunk_bytes):
        part = min(chunk_bytes, size - sent)
        busiest = np.where(taken > 0, load + part * taken, 0.0).max(axis=1)
        best = int(np.argmin(busiest))
        load += part * taken[best]
        used[ways[best]] += part
    return dict(used)


def _along(
    racks: IntArray, way: Way, size: int, block: int, shard: int, first: int, thz: bool
) -> list[Flow]:
    """The flows of one way, each after the one before it."""
    return [
        Flow(
            int(racks[u]),
            int(racks[v]),
            size,
            after=(first + hop - 1,) if hop else (),
            local=hop == 0,
            block=block,
            shard=shard,
            reduces=False,
            bundled=False,
            thz=thz,
            discipline="sustained-chunk",
        )
        for hop, (u, v) in enumerate(pairwise(way))
    ]
