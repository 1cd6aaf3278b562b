"""The yardstick of the reward: All-Wired in the same realisation, whatever the seed."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.scenarios import scenarios
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate
from thzsync.simulation.references import REFERENCE_ITERATIONS
from thzsync.simulation.results import mean_costs

TINY = Scenario.preset("tiny")


@pytest.mark.parametrize("seed", [0, 3])
def test_references_are_the_mean_costs_of_all_wired_under_the_same_seed(seed: int) -> None:
    plain = simulate(TINY, ALL_WIRED, REFERENCE_ITERATIONS, seed, references={})
    assert reference_costs(TINY, seed) == mean_costs(plain.events)


@given(scenarios(with_faults=True), st.integers(0, 99))
def test_references_of_any_scenario_are_those_of_a_whole_run(scenario: Scenario, seed: int) -> None:
    steps: list[None] = []
    found = reference_costs(scenario, seed, lambda: steps.append(None))
    whole = simulate(scenario, ALL_WIRED, REFERENCE_ITERATIONS, seed, references={})
    assert found == mean_costs(whole.events)
    assert len(steps) == whole.events.height


def test_events_without_bound_have_no_references() -> None:
    optical = TINY.optical.model_copy(update={"energy_j_per_bit_hop": 1e305})  # not validated
    dear = TINY.model_copy(update={"optical": optical})
    with pytest.raises(ThzSyncError, match=r"energy .*optical\.energy_j_per_bit_hop"):
        reference_costs(dear, 0)


def test_every_seed_has_references_of_its_own() -> None:
    assert reference_costs(TINY, 3) != reference_costs(TINY, 0)


def test_all_wired_scores_minus_one_against_itself_under_any_seed() -> None:
    run = simulate(TINY, ALL_WIRED, REFERENCE_ITERATIONS, seed=3)
    assert run.references == reference_costs(TINY, 3)
    assert run.summary["reward"] == pytest.approx(-1, abs=1e-12)


def test_means_do_not_depend_on_how_many_threads_there_are() -> None:
    """Polars sums thousands of rows in as many parts as it has threads."""
    values = np.random.default_rng(0).lognormal(0, 3, 5000)
    others = {"thz_energy_j": 0.0, "further_energy_j": 0.0}
    rows = {"kind": "p2p", "completion_ms": values, "optical_energy_j": values, **others}
    time, energy = mean_costs(pl.DataFrame(rows))["p2p"]
    assert time == pytest.approx(math.fsum(values * 1e-3) / 5000, rel=1e-15)
    assert energy == pytest.approx(math.fsum(values) / 5000, rel=1e-15)
    halves = pl.concat([pl.DataFrame(rows)[:1234], pl.DataFrame(rows)[1234:]], rechunk=False)
    assert mean_costs(halves)["p2p"] == (time, energy)
