"""Carry out what is missing of a plan, and commit every run as it is finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thzsync.studies.plan import PlannedRun
from thzsync.studies.store import Store
from thzsync.studies.task import reference_call, run_call
from thzsync.workers import Executor, followed


@dataclass(frozen=True)
class Tally:
    """How far a sweep is."""

    done: float
    """Runs that are done; those under way count by their shares."""
    total: int
    kept: int = 0
    """Of those done: finished before this start."""
    failed: int = 0
    prepared: float = 0
    """References found, of those that were unknown."""
    to_prepare: int = 0
    part: str = ""
    """What is done at the moment, where there are several things to do."""


Watch = Callable[[Tally], None]


def complete(
    runs: Sequence[PlannedRun], store: Store, executor: Executor, watch: Watch | None = None
) -> None:
    """Do every run that the store does not hold; one that fails stops no other."""
    wanted = list({run.key: run for run in runs}.values())
    missing = [run for run in wanted if store.finished(run.key) is None]
    tally = Tally(len(wanted) - len(missing), len(wanted), len(wanted) - len(missing))

    def tell(**news: Any) -> None:
        if watch is not None:
            watch(replace(tally, failed=len(store.failures), **news))

    tell()
    _find_references(missing, store, executor, tell)
    able = [run for run in missing if store.references(run.realisation.reference_key) is not None]
    calls = [run_call(run, store.references(run.realisation.reference_key) or b"") for run in able]
    before = len(wanted) - len(able)

    def watched(done: float) -> None:
        tell(done=before + done)

    for position, answer in followed(executor, calls, watched):
        key = able[position].key
        if answer.error is None:
            store.commit(key, answer.payload)
        else:
            store.fail(key, answer.error, answer.traceback)


def _find_references(
    runs: Sequence[PlannedRun], store: Store, executor: Executor, tell: Callable[..., None]
) -> None:
    """The runs of one realisation share their references, so these come first."""
    needed = {run.realisation.reference_key: run.realisation for run in runs}
    unknown = [r for key, r in needed.items() if store.references(key) is None]
    calls = [reference_call(r) for r in unknown]

    def watched(prepared: float) -> None:
        tell(prepared=prepared, to_prepare=len(unknown))

    for position, answer in followed(executor, calls, watched):
        key = unknown[position].reference_key
        if answer.error is None:
            store.commit_references(key, answer.payload)
            continue
        for run in runs:
            if run.realisation.reference_key == key:
                store.fail(run.key, answer.error, answer.traceback)
