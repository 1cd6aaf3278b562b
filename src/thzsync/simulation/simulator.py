"""The front door: one policy, one seed, some iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from thzsync.coordinator import Policy, make_policy
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import interrupted
from thzsync.records import References, Run
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation.metrics import Progress
from thzsync.simulation.sanity import refuse_not_finite
from thzsync.simulation.session import Driver, Session
from thzsync.streams import Streams

if TYPE_CHECKING:
    import polars as pl

REFERENCE_ITERATIONS = 3
"""Iterations of All-Wired over which the reward's references are averaged."""


def reference_costs(scenario: Scenario, seed: int) -> References:
    """Mean time [s] and energy [J] per collective type of All-Wired in the same realisation."""
    run = simulate(scenario, ALL_WIRED, REFERENCE_ITERATIONS, seed, references={})
    return mean_costs(run.events)


def mean_costs(events: pl.DataFrame) -> References:
    """Mean completion time [s] and energy [J] per collective type."""
    import polars as pl

    grouped = events.group_by("kind", maintain_order=True).agg(
        (pl.col("completion_ms") * 1e-3).mean().alias("time"),
        (pl.col("optical_energy_j") + pl.col("thz_energy_j")).mean().alias("energy"),
    )
    return {kind: (time, energy) for kind, time, energy in grouped.iter_rows()}


def simulate(
    scenario: ScenarioLike,
    policy: str | Policy = "thz-sync",
    iterations: int = 20,
    seed: int = 0,
    references: References | None = None,
    progress: Callable[[Progress], None] | None = None,
    keep_partial: bool = False,
) -> Run:
    """Run a policy for some training iterations of a scenario, preset or file; return the record.

    With ``keep_partial``, Ctrl-C ends the run early and what was finished is returned.
    """
    setting = Scenario.of(scenario)
    if references is None:
        Session(setting, seed, iterations)  # refuse what cannot run before working for it
        references = reference_costs(setting, seed)
    chosen = make_policy(policy, setting, Streams(seed)) if isinstance(policy, str) else policy
    session = Session(setting, seed, iterations, references)
    driver, done = Driver(chosen), 0

    def tell() -> None:
        nonlocal done
        for ended in session.finished():
            done += 1
            if progress is not None:
                progress(ended)

    try:
        for situation in session:
            tell()
            driver.answer(session, situation)
        driver.learn(session)
        tell()
    except BaseException as error:
        tell()
        if not (keep_partial and done and interrupted(error)):
            raise
    return refuse_not_finite(session.record(chosen.name))
