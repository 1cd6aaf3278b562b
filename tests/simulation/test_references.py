"""The yardstick of the reward: All-Wired in the same realisation, whatever the seed."""

from __future__ import annotations

import pytest

from thzsync.coordinator.static import ALL_WIRED
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate
from thzsync.simulation.results import mean_costs
from thzsync.simulation.simulator import REFERENCE_ITERATIONS

TINY = Scenario.preset("tiny")


@pytest.mark.parametrize("seed", [0, 3])
def test_references_are_the_mean_costs_of_all_wired_under_the_same_seed(seed: int) -> None:
    plain = simulate(TINY, ALL_WIRED, REFERENCE_ITERATIONS, seed, references={})
    assert reference_costs(TINY, seed) == mean_costs(plain.events)


def test_every_seed_has_references_of_its_own() -> None:
    assert reference_costs(TINY, 3) != reference_costs(TINY, 0)


def test_all_wired_scores_minus_one_against_itself_under_any_seed() -> None:
    run = simulate(TINY, ALL_WIRED, REFERENCE_ITERATIONS, seed=3)
    assert run.references == reference_costs(TINY, 3)
    assert run.summary["reward"] == pytest.approx(-1, abs=1e-12)
