"""Where independent calls are carried out: in this process, in others, or on a Dask cluster."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from thzsync.errors import ThzSyncError
from thzsync.workers.call import Answer, Call, News, carry_out, hearing

if TYPE_CHECKING:
    from thzsync.workers.cluster import Cluster
    from thzsync.workers.processes import Processes


class Here:
    """Carries out calls in this process, one after the other."""

    def run(self, calls: Sequence[Call], news: News) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, in order."""
        for position, call in enumerate(calls):
            with hearing(partial(news, position)):
                answer = carry_out(call)
            yield position, answer

    def close(self) -> None:
        """Nothing to let go of."""


class Executor:
    """Has calls carried out by a backend, and passes on each distinct warning of them once."""

    def __init__(self, backend: Here | Cluster | Processes) -> None:
        self._backend = backend
        self._told: set[str] = set()

    @property
    def is_here(self) -> bool:
        """Whether calls are carried out in this process."""
        return isinstance(self._backend, Here)

    def run(
        self, calls: Sequence[Call], watch: Callable[[float], object] = lambda done: None
    ) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished.

        ``watch`` is told how many are done, those under way by their shares.
        """
        shares: dict[int, float] = {}

        def news(position: int, share: float) -> None:
            shares[position] = share
            watch(sum(shares.values()))

        for position, answer in self._backend.run(calls, news):
            for text in dict.fromkeys(answer.warnings):
                if text not in self._told:
                    self._told.add(text)
                    warnings.warn(text, stacklevel=2)
            yield position, answer
            news(position, 1.0)


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
    count = workers or default_workers()
    fewer = count if most is None else min(count, most)
    if _teams and scheduler is None and count > 1:
        with _lent(_teams[-1], max(1, fewer)) as processes:
            yield Executor(processes)
        return
    backend = _make(fewer, scheduler)
    try:
        yield Executor(backend)
    finally:
        backend.close()


def _make(count: int, scheduler: str | None) -> Here | Cluster | Processes:
    if scheduler is not None:
        from thzsync.workers.cluster import Cluster

        return Cluster(scheduler)
    if count <= 1:
        return Here()
    from thzsync.workers.processes import Processes

    return Processes(count)


@contextmanager
def one_team() -> Iterator[None]:
    """Executors that are opened inside share their processes, one after the other.

    A worker spends a second or two before its first call, on imports and stored kernels.
    """
    _teams.append([])
    try:
        yield
    finally:
        for processes in _teams.pop():
            processes.close()


@contextmanager
def _lent(team: list[Processes], count: int) -> Iterator[Processes]:
    """The processes that a team keeps, or new ones; none is kept if anything fails."""
    from thzsync.workers.processes import Processes

    processes = team.pop() if team else Processes(count)
    processes.count = count
    try:
        yield processes
    except BaseException:
        processes.close()
        raise
    if processes.busy or team:  # somebody has not waited for all answers, or left others
        processes.close()
    else:
        team.append(processes)


_teams: list[list[Processes]] = []
