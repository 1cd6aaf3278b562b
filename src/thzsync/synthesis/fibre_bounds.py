"""How fast a collective could be on fibre at best: bytes that must cross a cut over its rate.

Whoever carries the collective out, and in whatever order: what a group of racks must send to others
leaves it by the links that leave the group, at their rate at most. Queues, delays, background and
faults only add to that. Every tier of the network has its groups (:func:`thzsync.network.cuts`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.collectives import Blocks, Demand, find_collective
from thzsync.network import Cuts, Network, cuts


class FibreBound(NamedTuple):
    """A time that no schedule can beat, and where the network sets it."""

    time_s: float
    """Least completion time [s]."""
    where: str
    """The links that are busy all that time."""


def fibre_bound(
    collective: str,
    demand: Demand,
    racks: IntArray,
    network: Network,
    release_s: FloatArray | None = None,
    forwarding: bool = False,
) -> FibreBound:
    """The best bound that is known for an event on fibre.

    ``release_s`` tells when each rack's data appears [s]. Whatever carries data of the racks
    released at some time or later is sent after that time. Transfers from one rack to one other go
    straight, by the network's paths, unless racks may pass them on (``forwarding``).
    """
    blocks = find_collective(collective).blocks(demand, racks)
    at_s = np.zeros(network.racks)
    at_s[racks] = 0.0 if release_s is None else release_s
    known = cuts(network)
    direct = network.single_path and len(blocks.single) == len(blocks) and not forwarding
    found = [FibreBound(0.0, "nothing")]
    for begin_s in np.unique(at_s[blocks.source]).tolist():
        late = _with_sources(blocks, at_s >= begin_s)
        after = [bound for groups in known for bound in _of_cuts(late, groups)]
        after += [_of_links(late, network)] if direct else []
        found += [FibreBound(begin_s + time_s, where) for time_s, where in after if time_s]
    return max(found, key=lambda bound: bound.time_s)


def _with_sources(blocks: Blocks, wanted: BoolArray) -> Blocks:
    """The blocks that have some of these racks as sources, without their other sources."""
    (block, source), (to, target) = _ends(blocks, True), _ends(blocks, False)
    block, source = block[wanted[source]], source[wanted[source]]
    kept = np.unique(block)
    going = np.isin(to, kept)
    starts = (
        np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(blocks))[kept])))
        for rows in (block, to[going])
    )
    source_start, target_start = starts
    return Blocks(blocks.size_bytes[kept], source_start, source, target_start, target[going])


def _of_cuts(blocks: Blocks, known: Cuts) -> list[FibreBound]:
    """Bounds of one tier: out of every group, into every group, and of all groups together.

    If some source of a block is in a group and some target is not, the block or a sum with it
    leaves the group, and likewise on the way in. In all, a block crosses between groups at least as
    often as `Blocks.volume_bytes` says, with groups for racks.
    """
    merged = _merged(blocks, known.group_of_rack)
    groups = np.union1d(merged.source, merged.target)
    found = []
    for ways, here, there, rate_bps in (
        ("out of", _ends(merged, True), _ends(merged, False), known.out_bps),
        ("into", _ends(merged, False), _ends(merged, True), known.in_bps),
    ):
        bits = 8.0 * _crossing_bytes(merged.size_bytes, here, there, len(rate_bps))
        time_s = np.divide(bits, rate_bps, out=np.zeros_like(bits), where=bits > 0)
        worst = int(np.argmax(time_s))
        found.append(FibreBound(float(time_s[worst]), f"{ways} {known.name(worst)}"))
        if volume_bits := 8.0 * merged.volume_bytes:
            every = f"all groups of tier {known.tier}" if known.tier else "all racks"
            time = float(volume_bits / rate_bps[groups].sum())
            found.append(FibreBound(time, f"{ways} {every}"))
    return found


Ends = tuple[IntArray, IntArray]
"""Blocks and groups: a row for every group with a source, or a target, of a block."""


def _ends(blocks: Blocks, sources: bool) -> Ends:
    start = blocks.source_start if sources else blocks.target_start
    block = np.repeat(np.arange(len(blocks)), np.diff(start))
    return block, blocks.source if sources else blocks.target


def _crossing_bytes(size_bytes: IntArray, here: Ends, there: Ends, groups: int) -> FloatArray:
    """Bytes that must pass between every group and the others, by the ends here and there."""
    block, group = here
    others = np.bincount(there[0], minlength=len(size_bytes))
    inside = np.isin(block * groups + group, there[0] * groups + there[1])
    crosses = others[block] > inside
    total = np.bincount(group[crosses], size_bytes[block[crosses]], groups)
    return total.astype(np.float64)


def _merged(blocks: Blocks, group_of_rack: IntArray) -> Blocks:
    """The blocks with groups for racks, every group once."""
    groups = int(group_of_rack.max()) + 1

    def rows(ends: Ends) -> tuple[IntArray, IntArray]:
        block, rack = ends
        once = np.unique(block * groups + group_of_rack[rack])
        return np.searchsorted(once, np.arange(len(blocks) + 1) * groups), once % groups

    return Blocks(blocks.size_bytes, *rows(_ends(blocks, True)), *rows(_ends(blocks, False)))


def _of_links(blocks: Blocks, network: Network) -> FibreBound:
    """Where there is one path only, what a link must carry."""
    moved = np.flatnonzero(blocks.source != blocks.target)
    link, pair, _ = network.shares(blocks.source[moved], blocks.target[moved])
    bits = 8.0 * np.bincount(link, blocks.size_bytes[moved[pair]], network.links)
    used = bits > 0
    time_s = np.divide(bits, network.rate_bps, out=np.zeros_like(bits), where=used)
    worst = int(np.argmax(time_s))
    return FibreBound(float(time_s[worst]), f"link {network.link_name(worst)}")
