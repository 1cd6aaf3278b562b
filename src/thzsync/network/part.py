"""A part of a network: some switches, the racks behind them, and all links among these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.network.network import Network
from thzsync.network.routing import forward


def part_of(network: Network, switches: IntArray) -> tuple[Network, IntArray]:
    """The part with these switches, and the old numbers of its links.

    Flows whose paths lie inside take the very same paths, since hashes go by the old numbers. Where
    paths are not the shortest, the part is the whole: others might change.
    """
    if not network.rules.shortest:
        switches = np.arange(network.switches)
    wired = network.outputs[network.to_switch[network.outputs] < 0]
    inside = np.isin(network.from_switch[wired], switches)
    racks = np.unique(network.target[wired[inside]])
    nodes = np.concatenate((racks, network.racks + switches))
    known = np.isin(network.source, nodes) & np.isin(network.target, nodes)
    links = np.flatnonzero(known)
    source, target = (
        np.searchsorted(nodes, end[links]) for end in (network.source, network.target)
    )
    rate_bps = network.rate_bps[links]
    sizes, rules = (len(racks), len(switches)), network.rules.of(links)
    rank = network.forwarding.rank[links]
    part = replace(
        network,
        racks=sizes[0],
        switches=sizes[1],
        source=source,
        target=target,
        rate_bps=rate_bps,
        delay_ps=network.delay_ps[links],
        energy_j_per_bit=network.energy_j_per_bit[links],
        forwarding=forward(*sizes, source, target, rate_bps > 0, rules, rank),
        switch_names=tuple(network.switch_names[s] for s in switches),
        rules=rules,
        rack_ids=racks,
    )
    return part, links
