from __future__ import annotations

import numpy as np
import pytest

from tests.coordinator.environment import LEVELS, RACKS, ToyFloor, make_plan
from thzsync.coordinator import Action, Situation
from thzsync.coordinator.features import (
    FIXED_COLUMNS,
    GAIN_LIMIT,
    LONGEST_AIR,
    MASK,
    air_time,
    columns,
    featurise,
)
from thzsync.coordinator.learning import Flat, View
from thzsync.synthesis import Offer


def two_flows(gain_db: object) -> Situation:
    plan = make_plan("a2a", [4, 2], [2, 4], [1, 16])
    return Situation(
        decision=0,
        offer=Offer.per_flow(plan),
        racks=8,
        straggler=np.array([False, True]),
        queued_bytes=np.array([0.0, 8 * 2**20]),
        shared_occupancy=np.array([0.0, 0.5]),
        snr_db_per_w=np.array(gain_db, dtype=np.float64),
        power_levels=LEVELS,
    )


def test_every_column_of_the_flow_context_is_normalised() -> None:
    rows = featurise(two_flows([[25.0, 35.0], [15.0, 25.0]])).rows
    np.testing.assert_allclose(rows[0], [4 / 8, 2 / 8, 0, 0, 0, 0, 1 / 8, 1, 0])
    np.testing.assert_allclose(rows[1], [2 / 8, 4 / 8, 4 / 8, 1, 1, 0.5, 1 / 8, 0, -1])


def test_the_first_layer_reads_the_context_and_three_action_columns() -> None:
    context = ToyFloor(0).context(0, "a2a")
    rows = featurise(context).rows
    action = View(4).taken(context, Action.uniform(context.offer, 0.5, 1.0))
    assert rows.shape[1] + action.shape[1] == columns(subbands=4)


def test_flows_are_grouped_by_sender() -> None:
    features = featurise(two_flows([[25.0, 25.0], [25.0, 25.0]]))
    assert features.group.tolist() == [1, 0]  # rack 4 is the second sender


def test_gains_stand_best_first_whatever_their_subband() -> None:
    one = featurise(two_flows([[20.0, 30.0], [20.0, 30.0]])).rows
    other = featurise(two_flows([[30.0, 20.0], [30.0, 20.0]])).rows
    np.testing.assert_array_equal(one, other)


def test_dead_links_stay_finite() -> None:
    features = featurise(two_flows([[-np.inf, -np.inf], [np.inf, -400.0]]))
    assert features.rows[0, FIXED_COLUMNS] == -GAIN_LIMIT
    assert np.isfinite(features.rows).all()
    assert features.air.max() == pytest.approx(LONGEST_AIR)


def test_air_time_is_one_at_six_bits_per_hertz_and_falls_with_power() -> None:
    rows = np.zeros((1, FIXED_COLUMNS + 1))
    rows[0, FIXED_COLUMNS] = (10 * np.log10(63) + 10 - 25) / 10  # SNR of 63 at full power
    assert air_time(rows, np.array([1.0]))[0, 0] == pytest.approx(1.0)
    assert (np.diff(air_time(rows, LEVELS)[0]) < 0).all()


def test_all_action_columns_fade_out_with_the_last_thz_chunk() -> None:
    context = ToyFloor(0).context(0, "p2p")
    features = featurise(context)
    counts = np.zeros(8, dtype=np.int64)
    counts[3] = 16
    action = Action.of(context.offer, counts, np.ones(RACKS))
    taken = View(4).taken(context, action)
    assert not np.delete(taken, 3, axis=0).any()
    np.testing.assert_allclose(taken[3], [0.5, features.air[3, -1] / 2, features.air[3, -1] / 2])


def test_a_situation_is_read_once_by_every_view() -> None:
    situation = two_flows([[0.0, 3.0], [3.0, 0.0]])
    sorted_gains, flat = View(2), Flat(2)
    features = sorted_gains.featurise(situation)
    assert sorted_gains.featurise(situation) is features
    masked = flat.featurise(situation)
    assert (masked.rows[:, MASK] == 1.0).all()
    assert sorted_gains.featurise(situation).rows.tolist() == features.rows.tolist()
    assert sorted_gains.featurise(two_flows([[0.0, 3.0], [3.0, 0.0]])) is not features
