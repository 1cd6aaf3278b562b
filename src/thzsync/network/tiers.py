"""Oversubscription: how many times what is below a tier of links can overload it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.network.network import Network
from thzsync.network.of_scenario import network_of
from thzsync.scenario import Scenario


class Tier(NamedTuple):
    """Links between switches at two levels, level 0 being next to the racks."""

    below: int
    above: int
    """The same as ``below`` where switches of one level are joined directly."""
    ratio: float
    """What can come from below over what the links carry, of the worst switch."""

    def name(self, noun: str = "") -> str:
        """Where it is; where every switch serves a ``noun`` of racks, that is what is joined."""
        if self.above == self.below:
            named = noun and self.below == 0
            return f"between {noun}s" if named else f"between {_place(self.below)}"
        return f"from {_place(self.below)} to {_place(self.above)}"


def _place(level: int) -> str:
    return ("leaves", "spines", "cores")[level] if level < 3 else f"switches of level {level}"


def tiers(network: Network) -> list[Tier]:
    """All tiers of a network, from the racks upwards.

    Between levels, the ratio is that of all links from below into a switch to all that lead up.
    Between switches of one level, it is that of all links from racks to the link to one neighbour:
    all racks of a ring may want to send to the same other ring.
    """
    level = levels(network)
    from_switch, to_switch = network.from_switch, network.to_switch
    real = network.rate_bps > 0
    rises = real & (to_switch >= 0)
    start = np.where(from_switch >= 0, level[from_switch], -1)
    end = np.where(to_switch >= 0, level[to_switch], -1)
    into = _sum(network, rises & (start < end), to_switch)
    found = []
    for below in range(int(level.max()) + 1):
        beside = rises & (start == below) & (end == below)
        if beside.any():
            pairs = from_switch * network.switches + to_switch
            _, place = np.unique(pairs[beside], return_inverse=True)
            carried = np.bincount(place, network.rate_bps[beside])[place].astype(np.float64)
            found.append(Tier(below, below, _worst(into[from_switch[beside]], carried)))
        upwards = _sum(network, rises & (start == below) & (end == below + 1), from_switch)
        leading = upwards > 0
        if leading.any():
            found.append(Tier(below, below + 1, _worst(into[leading], upwards[leading])))
    return found


def oversubscription(scenario: Scenario) -> float:
    """The largest ratio of the scenario's tiers: 8 in the preset ``paper``; 1 with one switch."""
    return max((tier.ratio for tier in tiers(network_of(scenario))), default=1.0)


def levels(network: Network) -> IntArray:
    """Links between every switch and the nearest rack, less one."""
    between = network.outputs[network.to_switch[network.outputs] >= 0]
    level = np.full(network.switches, network.switches, dtype=np.int64)
    level[network.to_switch[network.uplinks]] = 0
    for _ in range(network.switches):
        nearer = level.copy()
        np.minimum.at(nearer, network.from_switch[between], level[network.to_switch[between]] + 1)
        if (nearer == level).all():
            break
        level = nearer
    return level


def _sum(network: Network, links: BoolArray, switch: IntArray) -> FloatArray:
    rate_bps = network.rate_bps[links].astype(np.float64)
    return np.bincount(switch[links], rate_bps, network.switches).astype(np.float64)


def _worst(offered: FloatArray, carried: FloatArray) -> float:
    return float((offered / carried).max())
