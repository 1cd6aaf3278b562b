"""The one seam through which independent runs scale: who carries out the calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from thzsync.errors import ThzSyncError
from thzsync.workers.call import Answer, Call, carry_out


class Executor(Protocol):
    """Carries out calls in any order, somewhere."""

    def run(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished."""
        ...

    def close(self) -> None:
        """Let go of everything, also in the middle of a call."""
        ...


class Here:
    """Carries out calls in this process, one after the other."""

    def run(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, in order."""
        for position, call in enumerate(calls):
            yield position, carry_out(call)

    def close(self) -> None:
        """Nothing to let go of."""


class Relaying:
    """Passes on what another executor finds, and each distinct warning of its calls once."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._told: set[str] = set()

    def run(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished."""
        for position, answer in self._executor.run(calls):
            for text in answer.warnings:
                if text not in self._told:
                    self._told.add(text)
                    warnings.warn(text, stacklevel=3)
            yield position, answer

    def close(self) -> None:
        """Let go of everything."""
        self._executor.close()


def default_workers() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def open_executor(
    workers: int | None = None, scheduler: str | None = None, most: int | None = None
) -> Iterator[Executor]:
    """An executor: a cluster's, or ``workers`` processes (one per core when absent).

    ``most`` is how many calls there will be at once; one worker works in this process.
    """
    if workers is not None and workers < 1:
        raise ThzSyncError(f"workers: found {workers}; use at least 1")
    executor = Relaying(_make(workers, scheduler, most))
    try:
        yield executor
    finally:
        executor.close()


def _make(workers: int | None, scheduler: str | None, most: int | None) -> Executor:
    if scheduler is not None:
        from thzsync.workers.cluster import Cluster

        return Cluster(scheduler)
    count = default_workers() if workers is None else workers
    count = count if most is None else min(count, most)
    if count <= 1:
        return Here()
    from thzsync.workers.processes import Processes

    return Processes(count)
