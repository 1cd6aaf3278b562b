"""How a collective is carried out: structures, baselines, bounds, and what every method keeps."""

from __future__ import annotations

from thzsync.synthesis.method import FlowMethod, Method, Planner, Setting
from thzsync.synthesis.offer import Offer
from thzsync.synthesis.registry import (
    BUILT_IN,
    find_method,
    method_names,
    method_of,
    register_method,
)

__all__ = [
    "BUILT_IN",
    "FlowMethod",
    "Method",
    "Offer",
    "Planner",
    "Setting",
    "find_method",
    "method_names",
    "method_of",
    "register_method",
]
