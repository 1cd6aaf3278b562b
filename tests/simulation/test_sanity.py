from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest

from thzsync.errors import ThzSyncError
from thzsync.execution.agenda import NEVER_PS, Agenda, Priority
from thzsync.scenario import Scenario, SlowRack
from thzsync.simulation import Run, simulate
from thzsync.simulation.results import refuse_not_finite


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(Scenario.preset("tiny"), "all-wired", 1)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
@pytest.mark.parametrize("column", ["optical_energy_j", "reward", "completion_ms"])
def test_results_that_are_not_finite_are_refused_with_their_cause(
    run: Run, column: str, value: float
) -> None:
    spoilt = run.events.with_columns(pl.lit(value).alias(column))
    with pytest.raises(ThzSyncError, match=rf"event 0: {column} is (inf|nan)"):
        refuse_not_finite(replace(run, tables=run.tables | {"events": spoilt}))


def test_costs_without_bound_do_not_become_a_result() -> None:
    """References of almost nothing make every reward overflow."""
    scenario = Scenario.preset("tiny")
    nothing = dict.fromkeys(("p2p", "a2a", "allreduce"), (1e-320, 1.0))
    with pytest.raises(ThzSyncError, match=r"reward is -inf"):
        simulate(scenario, "all-wired", 1, references=nothing)


def test_the_clock_ends_before_it_wraps() -> None:
    with pytest.raises(ThzSyncError, match=re.escape(f"{NEVER_PS * 1e-12:g} s")):
        Agenda().add(NEVER_PS, Priority.COMPUTE_END, print, None)


def test_a_rack_that_is_very_late_is_late() -> None:
    """Delays of 9.3e6 s once wrapped to negative ones, and the rack was punctual."""
    tiny = Scenario.preset("tiny")
    rack = SlowRack.model_construct(rack=0, delay_s=9.3e6)  # without validation, on purpose
    slow = tiny.stragglers.model_copy(update={"slow_racks": (rack,)})
    with pytest.raises(ThzSyncError, match=r" 9\.3e\+06 s"):
        simulate(tiny.model_copy(update={"stragglers": slow}), "all-wired", 1)
