"""Whole numbers mean shares and powers; what lies outside the space is one clear line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.gym.episodes import REFERENCES
from thzsync import ThzSyncError
from thzsync.coordinator import Action, Situation
from thzsync.gym import CollectivesEnv
from thzsync.gym.actions import Full, Uniform
from thzsync.gym.capacity import Capacity
from thzsync.simulation import Session

ROOM = Capacity(units=20, senders=8, collectives=("p2p", "a2a", "allreduce"))
FULL, UNIFORM = Full(ROOM, steps=9, levels=4), Uniform(steps=9, levels=4)


@pytest.fixture(scope="module")
def situations() -> list[Situation]:
    """Every situation of an iteration."""
    session, found = Session("tiny"), []
    for situation in session:
        found.append(situation)
        session.send(Action.uniform(situation.offer, 0.5, 1.0))
    return found


def padded(situation: Situation, steps: Any, levels: Any) -> Any:
    """Steps of the event's units and levels of its senders in their places, 0 elsewhere."""
    choice = np.zeros(ROOM.units + ROOM.senders, dtype=np.int64)
    choice[: situation.units] = steps
    choice[ROOM.units : ROOM.units + situation.offer.groups] = levels
    return choice


def test_a_full_action_with_equal_numbers_is_the_uniform_one(situations: list[Situation]) -> None:
    for situation in situations:
        for number in range(UNIFORM.space.n):
            step, level = divmod(number, 4)
            one = UNIFORM.action(situation, number)
            other = FULL.action(situation, padded(situation, step, level))
            assert np.array_equal(one.thz_chunks, other.thz_chunks)
            assert np.array_equal(one.power, other.power)


def test_steps_are_even_shares_from_none_to_all(situations: list[Situation]) -> None:
    for situation in situations:
        chunks = situation.offer.chunks
        counts = [UNIFORM.action(situation, 4 * step).thz_chunks for step in range(9)]
        assert not counts[0].any()
        assert np.array_equal(counts[8], chunks)
        for step, count in enumerate(counts):
            assert (np.abs(count - chunks * step / 8) <= 0.5).all()


def test_every_unit_and_every_sender_has_a_number_of_its_own(situations: list[Situation]) -> None:
    for situation in situations:
        offer = situation.offer
        for unit in range(offer.units):
            alone = FULL.action(
                situation, padded(situation, 8 * (np.arange(offer.units) == unit), 3)
            )
            assert np.flatnonzero(alone.thz_chunks).tolist() == [unit]
            sending = offer.rack_group == offer.group[unit]
            assert np.array_equal(alone.power, np.where(sending, 1.0, 0.0))
        levels = np.arange(offer.groups) % 4
        power = FULL.action(situation, padded(situation, 8, levels)).power
        sends = offer.rack_group >= 0
        assert np.array_equal(power[sends], situation.power_levels[levels][offer.rack_group[sends]])


def test_numbers_behind_the_mask_mean_nothing(situations: list[Situation]) -> None:
    generator = np.random.default_rng(0)
    for situation in situations:
        choice = padded(situation, 5, 2)
        noise = generator.integers(FULL.space.nvec)
        used = padded(situation, 1, 1) > 0
        one, other = (FULL.action(situation, c) for c in (choice, np.where(used, choice, noise)))
        assert np.array_equal(one.thz_chunks, other.thz_chunks)
        assert np.array_equal(one.power, other.power)


def test_every_element_of_the_space_is_a_valid_action(situations: list[Situation]) -> None:
    space = FULL.space
    space.seed(0)
    for situation in situations:
        for _ in range(20):
            FULL.action(situation, space.sample()).check(situation)


def test_masks_leave_every_distinct_action_and_no_other(situations: list[Situation]) -> None:
    """Absent units and senders have one number left; a present one has all shares or levels."""
    for situation in situations:
        parts = np.split(FULL.mask(situation), np.cumsum(FULL.space.nvec)[:-1])
        free = [*(np.arange(20) < situation.units), *(np.arange(8) < situation.offer.groups)]
        for part, size, present in zip(parts, FULL.space.nvec, free, strict=True):
            assert part.tolist() == ([1] * size if present else [1] + [0] * (size - 1))
        assert UNIFORM.mask(situation).tolist() == [1] * UNIFORM.space.n


def test_gymnasium_draws_actions_under_a_mask(situations: list[Situation]) -> None:
    for situation in situations:
        parts = np.split(FULL.mask(situation), np.cumsum(FULL.space.nvec)[:-1])
        FULL.action(situation, FULL.space.sample(mask=tuple(parts))).check(situation)
        UNIFORM.action(situation, UNIFORM.space.sample(UNIFORM.mask(situation))).check(situation)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (np.zeros(27, dtype=np.int64), r"\b28\b.*int64 .*\(27,\)"),
        (np.zeros(28), r"\b28\b.*float64 .*\(28,\)"),
        ([[0], [0, 1]], r"\b28\b"),
        (None, r"\b28\b"),
        ([0] * 3 + [9] + [0] * 24, r"action: .*\b3 is 9; .*0\.\.8"),
        ([0] * 20 + [4] + [0] * 7, r"action: .*\b20 is 4; .*0\.\.3"),
        ([-1] + [0] * 27, r"action: .*\b0 is -1; .*0\.\.8"),
    ],
)
def test_what_is_no_element_is_refused(
    choice: Any, message: str, situations: list[Situation]
) -> None:
    with pytest.raises(ThzSyncError, match=message):
        FULL.action(situations[0], choice)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (36, r"action: .*\b0 is 36; .*0\.\.35"),
        (-1, r"action: .*\b0 is -1; .*0\.\.35"),
        ([1, 2], r"\b1\b.*\(2,\)"),
        (0.5, r"\b1\b.*float64"),
        (True, r"\b1\b.*bool"),
    ],
)
def test_what_is_no_number_of_a_uniform_action_is_refused(
    choice: Any, message: str, situations: list[Situation]
) -> None:
    with pytest.raises(ThzSyncError, match=message):
        UNIFORM.action(situations[0], choice)


def test_after_a_refused_action_the_same_event_still_waits() -> None:
    env = CollectivesEnv("tiny", actions="uniform", references=REFERENCES)
    env.reset(seed=0)
    with pytest.raises(ThzSyncError):
        env.step(68)
    assert env.step(67)[4]["decision"] == 1


def test_spaces_have_the_scenarios_levels_unless_told_otherwise() -> None:
    assert CollectivesEnv("tiny", actions="uniform").action_space.n == 17 * 4
    assert CollectivesEnv("tiny", actions="uniform", count_levels=5).action_space.n == 5 * 4
    sizes = CollectivesEnv("tiny", count_levels=5).action_space.nvec
    assert sizes.tolist() == [5] * 12 + [4] * 3
