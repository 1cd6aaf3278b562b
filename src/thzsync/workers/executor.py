"""The one seam through which independent runs scale: who carries out the calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Protocol

from thzsync.errors import ThzSyncError
from thzsync.workers.call import Answer, Call, carry_out
from thzsync.workers.news import News, hearing

if TYPE_CHECKING:
    from thzsync.workers.processes import Processes


class Executor(Protocol):
    """Carries out calls in any order, somewhere."""

    def run(self, calls: Sequence[Call], news: News | None = None) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished; news of those under way."""
        ...

    def close(self) -> None:
        """Let go of everything, also in the middle of a call."""
        ...


class Here:
    """Carries out calls in this process, one after the other."""

    def run(self, calls: Sequence[Call], news: News | None = None) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, in order."""
        for position, call in enumerate(calls):
            with hearing(partial(news, position)) if news is not None else nullcontext():
                answer = carry_out(call)
            yield position, answer

    def close(self) -> None:
        """Nothing to let go of."""


class Relaying:
    """Passes on what another executor finds, and each distinct warning of its calls once."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._told: set[str] = set()

    def run(self, calls: Sequence[Call], news: News | None = None) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished."""
        for position, answer in self._executor.run(calls, news):
            for text in answer.warnings:
                if text not in self._told:
                    self._told.add(text)
                    warnings.warn(text, stacklevel=3)
            yield position, answer

    def close(self) -> None:
        """Let go of everything."""
        self._executor.close()


def followed(
    executor: Executor, calls: Sequence[Call], watch: Callable[[float], object]
) -> Iterator[tuple[int, Answer]]:
    """Run calls; ``watch`` is told how many are done, those under way by their shares."""
    shares: dict[int, float] = {}

    def news(position: int, share: float) -> None:
        shares[position] = share
        watch(sum(shares.values()))

    for position, answer in executor.run(calls, news):
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
    if _teams and scheduler is None and (workers or default_workers()) > 1:
        count = workers or default_workers()
        with _teams[-1].lent(count if most is None else max(1, min(count, most))) as team:
            yield Relaying(team)
        return
    executor = Relaying(_make(workers, scheduler, most))
    try:
        yield executor
    finally:
        executor.close()


@contextmanager
def one_team() -> Iterator[None]:
    """Executors that are opened inside share their processes, one after the other.

    A worker spends a second or two before its first call, on imports and stored kernels.
    """
    team = _Team()
    _teams.append(team)
    try:
        yield
    finally:
        _teams.remove(team)
        team.dismiss()


class _Team:
    """Workers that stay when whoever hired them is done."""

    def __init__(self) -> None:
        self._processes: Processes | None = None

    @contextmanager
    def lent(self, count: int) -> Iterator[Executor]:
        """So many of the workers, hired when they are needed; none is kept if anything fails."""
        from thzsync.workers.processes import Processes

        processes = self._processes or Processes(count)
        self._processes = None  # who opens one executor inside another gets others
        processes.count = count
        try:
            yield processes
        except BaseException:
            processes.close()
            raise
        if processes.busy:  # somebody has not waited for all answers
            processes.close()
            return
        self.dismiss()
        self._processes = processes

    def dismiss(self) -> None:
        """End all workers that are not lent."""
        if self._processes is not None:
            self._processes.close()
        self._processes = None


_teams: list[_Team] = []


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
