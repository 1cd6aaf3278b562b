"""How a collective is carried out: structures, rounds, baselines, bounds."""

from __future__ import annotations

from thzsync.synthesis.method import Context, Method, Rounds, Synthesizer
from thzsync.synthesis.registry import BUILT_IN, find_method, method_names

__all__ = [
    "BUILT_IN",
    "Context",
    "Method",
    "Rounds",
    "Synthesizer",
    "find_method",
    "method_names",
]
