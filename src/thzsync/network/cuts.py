"""Cuts of a network: groups of racks at every tier, and the rates into and out of each group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.network.network import Network


class Cuts(NamedTuple):
    """All racks in groups, with the links by which each group meets the rest of the network."""

    tier: int
    """Links of the longest path inside a group; 0 where every rack is a group."""
    group_of_rack: IntArray
    out_bps: FloatArray
    """Rate of all links out of every group together [bit/s]."""
    in_bps: FloatArray
    """Rate of all links into every group together [bit/s]."""

    def name(self, group: int) -> str:
        """Which racks a group has."""
        racks = np.flatnonzero(self.group_of_rack == group)
        if len(racks) == 1:
            return f"rack {racks[0]}"
        listed = f"racks {racks[0]}..{racks[-1]}"
        return listed if len(racks) == racks[-1] - racks[0] + 1 else f"{len(racks)} {listed}"


def cuts(network: Network) -> list[Cuts]:
    """Racks alone, then those behind one leaf, then those of a pod, as long as groups differ.

    A group at tier d has racks that are joined by paths of up to d links, one after the other. To a
    group belong the switches that are nearer to it than to any other.
    """
    distance = network.forwarding.distance
    known = [_cuts(network, 0, np.arange(network.racks))]
    for tier in np.unique(distance).tolist():
        group = _joined(distance <= tier)[network.forwarding.class_of_rack]
        if not group.any():  # the whole network
            break
        known.append(_cuts(network, tier, group))
    return known


def _joined(near: AnyArray) -> IntArray:
    """Connected parts, numbered from 0 by their first members."""
    part = np.arange(len(near))
    near = near | near.T | np.eye(len(near), dtype=np.bool_)
    while True:
        least = np.array([part[row].min() for row in near])
        if (least == part).all():
            numbers: IntArray = np.unique(part, return_inverse=True)[1]
            return numbers
        part = least


def _cuts(network: Network, tier: int, group: IntArray) -> Cuts:
    part = np.concatenate((group, _switch_groups(network, group) if tier else _none(network)))
    source, target = part[network.source], part[network.target]
    leaving, count = source != target, int(group.max()) + 1

    def rates(end: IntArray) -> FloatArray:
        crossing = leaving & (end >= 0)
        rate_bps = network.rate_bps[crossing].astype(np.float64)
        return np.bincount(end[crossing], rate_bps, count).astype(np.float64)

    return Cuts(tier, group, rates(source), rates(target))


def _none(network: Network) -> IntArray:
    return np.full(network.switches, -1, dtype=np.int64)


def _switch_groups(network: Network, group: IntArray) -> IntArray:
    """The group to which every switch is nearest; -1 where several are equally near."""
    links = np.flatnonzero(network.rate_bps > 0)
    near = np.full((network.racks + network.switches, int(group.max()) + 1), 1 << 30)
    near[np.arange(network.racks), group] = 0
    while True:
        nearer = near.copy()
        np.minimum.at(nearer, network.source[links], near[network.target[links]] + 1)
        nearer[: network.racks] = near[: network.racks]  # no path leads through a rack
        if (nearer == near).all():
            break
        near = nearer
    switches = near[network.racks :]
    nearest = switches.min(axis=1)
    alone = (switches == nearest[:, None]).sum(axis=1) == 1
    return np.where(alone, switches.argmin(axis=1), -1)
