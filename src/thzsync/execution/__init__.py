"""One clock and one ledger over all carriers."""

from __future__ import annotations

from thzsync.execution.agenda import Agenda, Priority
from thzsync.execution.executor import Executor, Finished, Work

__all__ = ["Agenda", "Executor", "Finished", "Priority", "Work"]
