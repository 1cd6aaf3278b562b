"""The floor from above: where racks and switches are drawn, and which lines join them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.network import Network, network_of
from thzsync.network.tiers import levels
from thzsync.scenario import RingNetwork, Scenario
from thzsync.topology import Topology

HUB: Final = 0.55
"""Circle around the switches of rings, as a share of the first ring's radius."""
REACH: Final = 8
"""Half pitches around the centroid of its racks among which a switch finds its place."""

CLEAR: Final = 0.77
FAR: Final = 0.13
"""Pitches around a switch that should be free, and what a pitch away from the centroid costs: it
stands between four racks of a grid rather than between two or outside, and in the aisle of rows."""


class Lines(NamedTuple):
    """One line per pair of joined nodes: parallel links are a bundle.

    A *fibre* is one direction of a line: number ``2 line`` from the lower node to the higher, and
    ``2 line + 1`` back. Racks are lower than switches.
    """

    ends: IntArray
    """Lower and higher node of every line."""
    fibre: IntArray
    """The fibre of every link; -1 where the network's numbering has a gap."""
    rate_bps: FloatArray
    """Rate of every fibre, that of all its links together [bit/s]."""

    def name(self, network: Network, fibre: int) -> str:
        """From where to where a fibre leads."""
        ends = self.ends[fibre // 2][:: -1 if fibre % 2 else 1]
        return " -> ".join(network.node_name(int(node)) for node in ends)


def lines(network: Network) -> Lines:
    """The lines of a network."""
    real, nodes = network.rate_bps > 0, network.racks + network.switches
    source, target = network.source[real], network.target[real]
    pairs = np.minimum(source, target) * nodes + np.maximum(source, target)
    known, line = np.unique(pairs, return_inverse=True)
    fibre = np.full(network.links, -1, dtype=np.int64)
    fibre[real] = 2 * line + (source > target)
    rate_bps = np.bincount(fibre[real], network.rate_bps[real], 2 * len(known))
    return Lines(np.column_stack(np.divmod(known, nodes)), fibre, rate_bps.astype(np.float64))


def floor_plan(scenario: Scenario) -> dict[str, Any]:
    """Where racks and switches stand and how large they are [m], lines, names of subbands."""
    topology, network = Topology(scenario.floor), network_of(scenario)
    hubbed = isinstance(scenario.network, RingNetwork) and len(topology.radius_m) > 0
    hub_m = HUB * float(topology.radius_m[0]) if hubbed else 0.0
    pitch_m = _apart_m(topology.position_m)
    frame = frame_m(topology)
    if hubbed:
        switches_m, switch_m = _in_hub(network.switches, hub_m), 0.2 * hub_m
    else:
        switches_m = _switches_m(network, topology, pitch_m, frame)
        switch_m = min(pitch_m, _apart_m(switches_m)) / 3
    whole = np.vstack((frame, switches_m))
    low, high = lines(network).ends.T
    return {
        "noun": scenario.floor.noun,
        "groups": topology.groups,
        "lanes": topology.lanes,
        "racks": np.round(topology.position_m, 3).tolist(),
        "rack_m": pitch_m / 3,
        "switches": np.round(switches_m, 3).tolist(),
        "switch_m": switch_m,
        "names": network.switch_names,
        "radii": np.round(topology.radius_m, 3).tolist(),
        "hub": hub_m,
        "frame": np.round([whole.min(axis=0), whole.max(axis=0)], 3).tolist(),
        "lines": {"from": low.tolist(), "to": high.tolist()},
        "subbands": [f"{hz / 1e9:g} GHz" for hz in scenario.thz.centres_hz],
    }


def _apart_m(places_m: FloatArray) -> float:
    """Distance of neighbours where they stand close together [m]."""
    from scipy.spatial import cKDTree

    if len(places_m) == 1:
        return 1.0
    apart_m = np.asarray(cKDTree(places_m).query(places_m, k=2)[0])
    return float(np.quantile(apart_m[:, 1], 0.1))


def frame_m(topology: Topology) -> FloatArray:
    """Lowest and highest corner of what racks take up, whole rings included [m]."""
    if len(topology.radius_m):
        reach_m = float(topology.radius_m[-1])
        return np.array([[-reach_m, -reach_m], [reach_m, reach_m]])
    place = topology.position_m
    room_m = _apart_m(place) / 4
    return np.stack((place.min(axis=0) - room_m, place.max(axis=0) + room_m))


def _in_hub(switches: int, hub_m: float) -> FloatArray:
    """Switches of rings on a circle in the middle."""
    angle = 2 * np.pi * (np.arange(switches) + 0.5) / switches
    radius_m = 0.6 * hub_m if switches > 1 else 0.0
    return radius_m * np.column_stack((np.cos(angle), np.sin(angle)))


def _switches_m(
    network: Network, topology: Topology, pitch_m: float, frame: FloatArray
) -> FloatArray:
    """Switches next to racks stand among these; every further level is a row beside the floor."""
    level, place = levels(network), np.zeros((network.switches, 2))
    place[level == 0] = _among_racks(network, np.flatnonzero(level == 0), topology, pitch_m)
    extent_m = frame[1] - frame[0]
    along = int(np.argmax(extent_m))
    gap_m = max(2 * pitch_m, 0.12 * float(extent_m.max()))
    for step, one in enumerate(np.unique(level[level > 0]), 1):
        own = np.flatnonzero(level == one)
        share = (np.arange(len(own)) + 0.5) / len(own)
        place[own, along] = frame[0, along] + share * extent_m[along]
        place[own, 1 - along] = frame[1, 1 - along] + step * gap_m
    return place


def _among_racks(
    network: Network, leaves: IntArray, topology: Topology, pitch_m: float
) -> FloatArray:
    """A clear place near the centroid of a switch's racks, rather towards the floor's centre."""
    from scipy.spatial import cKDTree

    racks_m, found = topology.position_m, np.zeros((0, 2))
    centre, known = racks_m.mean(axis=0), cKDTree(racks_m)
    steps = np.arange(-REACH, REACH + 1) * pitch_m / 2
    around = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    for switch in leaves:
        ends = network.target[network.outputs_of(int(switch))]
        places = racks_m[ends[ends < network.racks]].mean(axis=0) + around
        clear_m, _ = known.query(places)
        near = np.abs(found - places.mean(axis=0)).max(axis=1) < REACH * pitch_m
        for other in found[near]:
            clear_m = np.minimum(clear_m, np.hypot(*(places - other).T))
        away_m = FAR * np.hypot(*around.T) + 1e-3 * np.hypot(*(places - centre).T)
        worth_m = np.minimum(clear_m, CLEAR * pitch_m) - away_m
        found = np.vstack((found, places[np.argmax(worth_m)]))
    return found
