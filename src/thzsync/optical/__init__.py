"""The packet fabric and its flow-level twin: lower -> kernel -> raise."""

from __future__ import annotations

from typing import TypeAlias

from thzsync.optical.background import Background
from thzsync.optical.base import LinkBytes
from thzsync.optical.fabric import OpticalFabric
from thzsync.optical.flow_fabric import FlowFabric

Fabric: TypeAlias = OpticalFabric | FlowFabric
"""Either fidelity: both have the same interface."""

__all__ = [
    "Background",
    "Fabric",
    "FlowFabric",
    "LinkBytes",
    "OpticalFabric",
]
