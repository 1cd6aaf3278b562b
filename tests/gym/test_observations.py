"""Agents see what our learners see."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gym.episodes import REFERENCES, play
from thzsync.coordinator.features import featurise
from thzsync.gym import CollectivesEnv
from thzsync.gym.observations import Observation
from thzsync.scenario import Scenario


@pytest.mark.parametrize("gains", ["sorted", "by-subband"])
def test_rows_are_those_of_the_learners_and_the_rest_is_masked(gains: str) -> None:
    scenario = Scenario.preset("tiny").with_({"coordinator.gains": gains})
    env = CollectivesEnv(scenario, actions="uniform", references=REFERENCES)

    def looks(observation: Observation) -> int:
        assert env.situation is not None
        units, offer = env.situation.units, env.situation.offer
        rows = featurise(env.situation, best_gain_first=gains == "sorted").rows
        assert np.array_equal(observation["rows"][:units], rows.astype(np.float32))
        assert not observation["rows"][units:].any()
        assert observation["unit_mask"].tolist() == [1] * units + [0] * (12 - units)
        assert observation["sender"].tolist() == [*offer.group, *[-1] * (12 - units)]
        assert observation["sender_mask"].tolist() == [1] * offer.groups + [0] * (3 - offer.groups)
        assert env.collectives[observation["collective"]] == env.situation.kind
        return 33

    episode = play(env, looks, seed=2)
    assert {int(o["collective"]) for o in episode.observations} == {0, 1, 2}


def test_after_the_last_decision_there_is_nothing_to_see() -> None:
    env = CollectivesEnv("tiny", actions="uniform", references=REFERENCES)
    last = play(env, lambda _: 0, seed=0).observations[-1]
    assert not last["rows"].any()
    assert not last["unit_mask"].any()
    assert not last["sender_mask"].any()
    assert (last["sender"] == -1).all()
