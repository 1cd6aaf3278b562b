"""Independent calls carried out elsewhere: in processes of our own, or on a Dask cluster."""

from __future__ import annotations

from thzsync.workers.call import Answer, Call, carry_out
from thzsync.workers.executor import Executor, default_workers, one_team, open_executor

__all__ = [
    "Answer",
    "Call",
    "Executor",
    "carry_out",
    "default_workers",
    "one_team",
    "open_executor",
]
