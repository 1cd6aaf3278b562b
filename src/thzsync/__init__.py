"""THz-SynC: collectives of AI training on a hybrid optical and THz data centre."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thzsync.version import __version__

if TYPE_CHECKING:
    from thzsync.answer import Answer, ask
    from thzsync.auditor import audit
    from thzsync.errors import ThzSyncError
    from thzsync.experiments.compare import compare
    from thzsync.experiments.single_ring import synthesize
    from thzsync.scenario import Scenario
    from thzsync.simulation import Run, Session, simulate
    from thzsync.studies import break_even, sweep

_HOMES = {
    "Answer": "thzsync.answer",
    "Run": "thzsync.simulation",
    "Scenario": "thzsync.scenario",
    "Session": "thzsync.simulation",
    "ThzSyncError": "thzsync.errors",
    "ask": "thzsync.answer",
    "audit": "thzsync.auditor",
    "break_even": "thzsync.studies",
    "compare": "thzsync.experiments.compare",
    "simulate": "thzsync.simulation",
    "sweep": "thzsync.studies",
    "synthesize": "thzsync.experiments.single_ring",
}

__all__ = [
    "Answer",
    "Run",
    "Scenario",
    "Session",
    "ThzSyncError",
    "__version__",
    "ask",
    "audit",
    "break_even",
    "compare",
    "simulate",
    "sweep",
    "synthesize",
]


def __dir__() -> list[str]:
    """The API, for completion and for people: without it, names not used yet would be missing."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that ``import thzsync`` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'thzsync' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
