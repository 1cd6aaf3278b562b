"""The front door: one policy, one seed, some iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from thzsync.coordinator import Policy, make_policy
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import ThzSyncError, interrupted
from thzsync.scenario import Scenario
from thzsync.simulation.engine import Engine
from thzsync.simulation.metrics import Progress
from thzsync.simulation.records import References, Run
from thzsync.simulation.sanity import refuse_not_finite
from thzsync.streams import Streams

if TYPE_CHECKING:
    import polars as pl

REFERENCE_ITERATIONS = 3
"""Iterations of All-Wired over which the reward's references are averaged."""


def reference_costs(scenario: Scenario, seed: int) -> References:
    """Mean time [s] and energy [J] per collective type of All-Wired in the same realisation."""
    engine = Engine(scenario, ALL_WIRED, seed)
    for _ in range(REFERENCE_ITERATIONS):
        engine.run_iteration()
    return mean_costs(engine.finish(ALL_WIRED.name).events)


def mean_costs(events: pl.DataFrame) -> References:
    """Mean completion time [s] and energy [J] per collective type."""
    import polars as pl

    grouped = events.group_by("kind", maintain_order=True).agg(
        (pl.col("completion_ms") * 1e-3).mean().alias("time"),
        (pl.col("optical_energy_j") + pl.col("thz_energy_j")).mean().alias("energy"),
    )
    return {kind: (time, energy) for kind, time, energy in grouped.iter_rows()}


def simulate(
    scenario: Scenario,
    policy: str | Policy = "thz-sync",
    iterations: int = 20,
    seed: int = 0,
    references: References | None = None,
    progress: Callable[[Progress], None] | None = None,
    keep_partial: bool = False,
) -> Run:
    """Run a policy for some training iterations and return the record.

    With ``keep_partial``, Ctrl-C ends the run early and what was finished is returned.
    """
    if iterations < 1:
        raise ThzSyncError(f"iterations: found {iterations}; run at least 1")
    if not scenario.jobs:
        raise ThzSyncError(
            f"scenario {scenario.name!r} has no job; add a [[jobs]] table, or use `synthesize`"
        )
    if references is None:
        references = reference_costs(scenario, seed)
    chosen = make_policy(policy, scenario, Streams(seed)) if isinstance(policy, str) else policy
    engine = Engine(scenario, chosen, seed, references)
    try:
        for _ in range(iterations):
            done = engine.run_iteration()
            if progress is not None:
                progress(done)
    except BaseException as error:
        if not (keep_partial and engine.iterations_done and interrupted(error)):
            raise
    return refuse_not_finite(engine.finish(chosen.name))
