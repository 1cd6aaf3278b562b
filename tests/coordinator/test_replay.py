from __future__ import annotations

import numpy as np
import pytest

from thzsync.coordinator.features import ACTION_COLUMNS, Features, columns, group_flows
from thzsync.coordinator.replay import Replay

INPUTS = columns(2)
LEVELS = np.array([0.5, 1.0])


def event(number: int, flows: int) -> tuple[Features, np.ndarray]:
    rows = np.full((flows, INPUTS - ACTION_COLUMNS), float(number))
    features = group_flows(rows, np.arange(flows), np.full(flows, 4), LEVELS)
    return features, np.full((flows, ACTION_COLUMNS), -float(number))


def test_a_wider_event_widens_the_padding_and_keeps_what_was_there() -> None:
    replay = Replay(8, INPUTS, LEVELS)
    replay.add(*event(1, flows=2), reward=-1.0)
    replay.add(*event(2, flows=5), reward=-2.0)
    events = replay.events(np.array([0, 1]))
    assert events.rows.shape == (2, 5, INPUTS)
    assert events.group.tolist() == [[0, 1, -1, -1, -1], [0, 1, 2, 3, 4]]
    assert not events.rows[0, 2:].any()
    assert (events.rows[0, :2, :-ACTION_COLUMNS] == 1.0).all()
    assert (events.rows[0, :2, -ACTION_COLUMNS:] == -1.0).all()


def test_a_batch_is_padded_only_as_far_as_its_own_samples_need() -> None:
    replay = Replay(8, INPUTS, LEVELS)
    replay.add(*event(1, flows=2), reward=-1.0)
    replay.add(*event(2, flows=5), reward=-2.0)
    assert replay.events(np.array([0, 0])).rows.shape == (2, 2, INPUTS)


def test_the_oldest_samples_leave_first() -> None:
    replay = Replay(3, INPUTS, LEVELS)
    serials = [replay.add(*event(n, flows=1 + n % 2), reward=float(-n)) for n in range(5)]
    assert len(replay) == 3
    assert [replay.holds(s) for s in serials] == [False, False, True, True, True]
    assert sorted(replay.reward[:3]) == [-4.0, -3.0, -2.0]


def test_a_narrow_sample_in_a_wide_ones_place_leaves_no_trace_of_it() -> None:
    replay = Replay(1, INPUTS, LEVELS)
    replay.add(*event(1, flows=4), reward=0.0)
    replay.add(*event(2, flows=1), reward=0.0)
    assert replay.group[0].tolist() == [0, -1, -1, -1]
    assert not replay.rows[0, 1:].any()


def test_an_event_comes_back_without_its_action() -> None:
    replay = Replay(4, INPUTS, LEVELS)
    features, action = event(3, flows=3)
    replay.add(features, action, reward=0.0)
    events = replay.events(np.array([0]))
    for name, given in features._asdict().items():
        stored = getattr(events, name)[0]
        stored = stored[:, : events.contexts] if name == "rows" else stored
        np.testing.assert_array_equal(stored, given)


def test_rewards_that_have_yet_to_come_are_not_known() -> None:
    replay = Replay(4, INPUTS, LEVELS)
    replay.add(*event(1, flows=1), reward=np.nan)
    replay.add(*event(2, flows=1), reward=-0.5)
    assert replay.known.tolist() == [False, True]


@pytest.mark.parametrize("count", [0, 2, 7])
def test_state_and_restore_are_inverse(count: int) -> None:
    replay, copy = Replay(4, INPUTS, LEVELS), Replay(4, INPUTS, LEVELS)
    for n in range(count):
        replay.add(*event(n, flows=1 + n), reward=float(n))
    copy.restore({key: array.copy() for key, array in replay.state().items()})
    for both in (replay, copy):
        both.add(*event(9, flows=2), reward=9.0)
    for a, b in zip(replay.state().values(), copy.state().values(), strict=True):
        np.testing.assert_array_equal(a, b)
