"""Independent runs, spread over processes: the one seam through which experiments scale."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Final, TypeVar

from thzsync.errors import ThzSyncError

Item = TypeVar("Item")
Result = TypeVar("Result")

_ONE_THREAD: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def default_workers() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def map_runs(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    finished: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """``[function(item) for item in items]``, in this order whatever the number of workers.

    ``function`` must be importable by name and depend on its item alone. ``progress(done, total)``
    and ``finished(position, result)`` are called here, as runs complete; after Ctrl-C the workers
    are gone and what ``finished`` has seen is all there is.
    """
    if workers is not None and workers < 1:
        raise ThzSyncError(f"workers: found {workers}; use at least 1")
    count = min(default_workers() if workers is None else workers, len(items))
    results: list[Result | None] = [None] * len(items)
    runs = _here(function, items) if count <= 1 else _elsewhere(function, items, count)
    for done, (position, result) in enumerate(runs, start=1):
        results[position] = result
        if finished is not None:
            finished(position, result)
        if progress is not None:
            progress(done, len(items))
    return results  # type: ignore[return-value]


def _here(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[int, Result]]:
    for position, item in enumerate(items):
        yield position, function(item)


def _elsewhere(
    function: Callable[[Item], Result], items: Sequence[Item], count: int
) -> Iterator[tuple[int, Result]]:
    # A fresh interpreter per worker inherits no threads, locks or random state.
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_ignore_interrupts)
    complete = False
    try:
        with _one_blas_thread():  # workers start while items are handed in
            futures: dict[Future[Result], int] = {
                pool.submit(function, item): position for position, item in enumerate(items)
            }
        for future in as_completed(futures):
            yield futures[future], future.result()
        complete = True
    except BrokenProcessPool:
        raise ThzSyncError(
            "a worker process died (out of memory?); use fewer workers or smaller runs"
        ) from None
    finally:
        if not complete:
            _stop(pool)
        pool.shutdown(wait=complete, cancel_futures=True)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End our own workers at once instead of waiting for their current runs."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        process.terminate()


def _ignore_interrupts() -> None:
    """Ctrl-C reaches the whole process group; the parent alone decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
