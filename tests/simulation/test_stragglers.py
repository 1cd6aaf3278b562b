"""Stragglers: their share and the span of their delays are those of the scenario."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulation.traces import event
from thzsync.arrays import IntArray
from thzsync.collectives import Tensor
from thzsync.scenario import ComputeFrozen, Stragglers
from thzsync.scenario.job import SlowRack
from thzsync.simulation.world import delays_ps
from thzsync.streams import Streams

US = 10**6
MANY = 4000
"""Racks in one event, each of which draws for itself."""
EVENT = event(0, "allreduce", Tensor(1), range(MANY))


def drawn(model: Stragglers, seed: int = 0, iteration: int = 0) -> IntArray:
    return delays_ps(EVENT, iteration, 0, model, [], Streams(seed))


def test_delays_fill_the_span_between_the_shortest_and_the_longest() -> None:
    late = drawn(Stragglers(probability=1, min_delay_s=100e-6, max_delay_s=300e-6))
    assert late.min() >= 100 * US
    assert late.max() <= 300 * US
    deciles = np.quantile(late, np.arange(0.1, 1.0, 0.1))
    np.testing.assert_allclose(deciles, np.arange(120, 300, 20) * US, atol=6 * US)


def test_as_many_racks_are_late_as_the_probability_says() -> None:
    late = drawn(Stragglers(probability=0.25, min_delay_s=1e-6, max_delay_s=2e-6)) > 0
    assert late.mean() == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / MANY) ** 0.5)


def test_slow_racks_are_late_on_top_of_chance() -> None:
    slow = (SlowRack(rack=7, delay_s=3e-6),)
    late = drawn(Stragglers(probability=1, min_delay_s=5e-6, max_delay_s=5e-6, slow_racks=slow))
    assert late[7] == 8 * US
    assert (np.delete(late, 7) == 5 * US).all()


def test_every_iteration_and_every_seed_draws_anew() -> None:
    model = Stragglers(probability=0.5, min_delay_s=1e-6, max_delay_s=2e-6)
    assert (drawn(model) == drawn(model)).all()
    assert (drawn(model) != drawn(model, iteration=1)).any()
    assert (drawn(model) != drawn(model, seed=1)).any()


def test_data_that_would_appear_while_a_rack_is_frozen_appears_when_it_thaws() -> None:
    frozen = [
        ComputeFrozen(kind="compute-frozen", start_s=2e-6, end_s=9e-6, rack=1),
        ComputeFrozen(kind="compute-frozen", start_s=0, end_s=2e-6, rack=1),
        ComputeFrozen(kind="compute-frozen", start_s=1e-6, end_s=5e-6, rack=2),
    ]
    racks = event(0, "allreduce", Tensor(1), range(3))
    late = delays_ps(racks, 0, 0, Stragglers(), frozen, Streams(0))
    assert late.tolist() == [0, 9 * US, 0]  # one window leads into the next; the third comes later
