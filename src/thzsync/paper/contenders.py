"""What figures that are made of a sweep's contenders share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from thzsync.records.run import environment
from thzsync.studies.execution import Tally
from thzsync.studies.plan import Plan
from thzsync.studies.result import Sweep
from thzsync.studies.store import Store
from thzsync.studies.sweeping import execute

CONVERGED: Final = 10
"""First iteration (from 0) of the window over which the paper averages: 11 to 20."""

Progress = Callable[[str, float, int], None]
"""Part, runs done, runs in all."""


def first_averaged(iterations: int) -> int:
    """The first iteration that counts: the paper's, or the second half of a shorter run."""
    return CONVERGED if iterations > CONVERGED else iterations // 2


def run_by_seed(
    plan: Plan, store: Store, workers: int | None, name: str, progress: Progress | None
) -> None:
    """Do what is missing, seed by seed, so that an interruption leaves whole seeds."""
    before = 0
    different = list({run.key: run for run in plan.runs}.values())  # some contenders are the same
    for seed in plan.specification.seeds:
        runs = [run for run in different if run.seed == seed]

        def watch(tally: Tally, before: int = before) -> None:
            if progress is not None:
                progress(name, before + tally.done, len(different))

        execute(runs, store, workers, watch=watch)
        before += len(runs)


def facts(kind: str, sweep: Sweep, quick: bool) -> dict[str, Any]:
    """What every such figure's document says beside its rows."""
    return {
        "kind": kind,
        "quick": quick,
        "scenario": sweep.scenario.name,
        "scenario_sha256": sweep.scenario.digest,
        "first_iteration": sweep.specification.first,
        "iterations": sweep.specification.iterations,
        "failures": list(sweep.failures),
        "missing": sweep.missing,
        "environment": environment(),
    }
