"""The packet fabric: lower -> kernel -> raise."""

from __future__ import annotations

from thzsync.optical.background import Background
from thzsync.optical.batch import ChunkBatch
from thzsync.optical.fabric import Deliveries, LinkBytes, OpticalFabric, Reports
from thzsync.optical.layout import DONE, EXTERNAL, JOIN, READY, TIMER, WIRED
from thzsync.optical.network import Network, energy_j

__all__ = [
    "DONE",
    "EXTERNAL",
    "JOIN",
    "READY",
    "TIMER",
    "WIRED",
    "Background",
    "ChunkBatch",
    "Deliveries",
    "LinkBytes",
    "Network",
    "OpticalFabric",
    "Reports",
    "energy_j",
]
