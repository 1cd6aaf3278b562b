"""Fibre networks as data: generators, importers, forwarding, proof against deadlock."""

from thzsync.network.cuts import Cuts, cuts
from thzsync.network.generators import Fibres, Wires, fat_tree, leaf_spine, rings
from thzsync.network.network import Buffers, Network
from thzsync.network.of_scenario import network_of
from thzsync.network.part import part_of
from thzsync.network.tiers import oversubscription, tiers

__all__ = [
    "Buffers",
    "Cuts",
    "Fibres",
    "Network",
    "Wires",
    "cuts",
    "fat_tree",
    "leaf_spine",
    "network_of",
    "oversubscription",
    "part_of",
    "rings",
    "tiers",
]
