"""The packet fabric: lower -> kernel -> raise."""

from __future__ import annotations

from thzsync.optical.background import Background
from thzsync.optical.fabric import LinkBytes, OpticalFabric
from thzsync.optical.network import Network, energy_j

__all__ = ["Background", "LinkBytes", "Network", "OpticalFabric", "energy_j"]
