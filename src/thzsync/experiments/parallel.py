"""A function of independent items, carried out by whatever executor there is."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from thzsync import plugins
from thzsync.errors import ThzSyncError, interrupted
from thzsync.workers import Answer, Call, Executor, open_executor
from thzsync.workers.call import hearing

Item = TypeVar("Item")
Result = TypeVar("Result")

_APPLY: Final = "thzsync.experiments.parallel:apply_pickled"


@dataclass(frozen=True)
class Failure:
    """What a run raised."""

    error: BaseException
    traceback: str = ""


def map_runs(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[Item, Result], object] | None = None,
) -> list[Result]:
    """``[function(item) for item in items]``, in this order whatever the number of workers.

    ``function`` must be importable by name and depend on its item alone. As runs complete,
    ``keep`` is given each with its result, and ``progress(done, total)`` is told.
    """
    results: list[Result | None] = [None] * len(items)
    with open_executor(workers, most=len(items)) as executor:
        runs = stream_runs(executor, function, items)
        for done, (position, result) in enumerate(runs, start=1):
            if isinstance(result, Failure):
                raise result.error
            results[position] = result
            if keep is not None:
                keep(items[position], result)
            if progress is not None:
                progress(done, len(items))
    return results  # type: ignore[return-value]


def stream_runs(
    executor: Executor,
    function: Callable[[Item], Result],
    items: Sequence[Item],
    watch: Callable[[float], object] = lambda done: None,
) -> Iterator[tuple[int, Result | Failure]]:
    """Position and result of every item as they are finished; one that raises stops no other.

    ``watch`` is told how many are done, those under way by their shares.
    """
    # Pickled for a pipe between two processes of ours; what is stored on disk never is.
    calls = [Call(_APPLY, pickle.dumps((function, item))) for item in items]
    for position, answer in executor.run(calls, watch):
        yield position, _result(answer)


def stream_here(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    watch: Callable[[float], object] = lambda done: None,
) -> Iterator[tuple[int, Result | Failure]]:
    """The same in this process, one after the other, of items that cannot be pickled."""
    for position, item in enumerate(items):
        with hearing(lambda share, before=position: watch(before + share)):  # type: ignore[misc]
            result = _attempt(function, item)
        yield position, result
        watch(position + 1)


def _attempt(function: Callable[[Item], Result], item: Item) -> Result | Failure:
    """Call a function with its item; an exception is a result, too."""
    try:
        return function(item)
    except Exception as error:
        if interrupted(error):
            raise
        return Failure(plugins.fault(error) or error, traceback.format_exc())


def apply_pickled(payload: bytes) -> bytes:
    """Call a pickled function with its item; a failure must be of a kind that can be pickled."""
    try:
        function, item = pickle.loads(payload)
    except (AttributeError, ImportError) as error:
        raise ThzSyncError(
            f"a worker cannot load what it was sent ({error}); put it into a module, and name that "
            "in the scenario's plugins"
        ) from None
    result = _attempt(function, item)
    answer = pickle.dumps(result)
    if isinstance(result, Failure):
        pickle.loads(answer)
    return answer


def _result(answer: Answer) -> Any:
    if answer.error is not None:
        return Failure(ThzSyncError(answer.error), answer.traceback)
    return pickle.loads(answer.payload)
