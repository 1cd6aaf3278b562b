"""The policies of the package conform; planted faults are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from thzsync.coordinator import Action, Outcome, Situation, policy_names
from thzsync.coordinator.interface import State
from thzsync.errors import ThzSyncError
from thzsync.streams import Streams
from thzsync.testing import check_policy


@pytest.mark.parametrize("name", policy_names())
def test_the_policies_of_the_package_conform(name: str) -> None:
    assert check_policy(name, floors=2) > 200


class Counting:
    """A right policy that learns: its share of THz follows from how often it learnt."""

    name = "counting"

    def __init__(self, streams: Streams) -> None:
        self.learnt = 0
        self.rng = streams.generator("policy")
        self.frozen = False

    def decide(self, situation: Situation) -> Action:
        share = (self.learnt % 7) / 6
        if not self.frozen:
            share = (share + self.rng.random()) / 2
        return Action.uniform(situation.offer, share, float(situation.power_levels[-1]))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        self.learnt += not self.frozen

    def state(self) -> State:
        return {"learnt": self.learnt, "rng": self.rng.bit_generator.state}

    def load(self, state: State) -> None:
        self.learnt = state["learnt"]
        self.rng.bit_generator.state = state["rng"]

    def freeze(self) -> None:
        self.frozen = True


class TooStrong(Counting):
    def decide(self, situation: Situation) -> Action:
        return Action.uniform(situation.offer, 1.0, 2.0)


class Meddling(Counting):
    def decide(self, situation: Situation) -> Action:
        situation.queued_bytes[:] += 1
        return super().decide(situation)


class Impatient(Counting):
    last = -1

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        if outcome.decision < self.last:
            raise ThzSyncError("outcomes out of order")
        self.last = outcome.decision


class Fickle(Counting):
    def __init__(self, streams: Streams) -> None:
        super().__init__(streams)
        self.rng = np.random.default_rng()


class Forgetful(Counting):
    def load(self, state: State) -> None:
        self.learnt = state["learnt"]


class Restless(Counting):
    def freeze(self) -> None:
        """It goes on."""


def test_a_policy_from_outside_conforms() -> None:
    assert check_policy(Counting, floors=1) > 100


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (TooStrong, "power"),
        (Meddling, "changed situation"),
        (Impatient, "out of order"),
        (Fickle, "two policies of one seed"),
        (Forgetful, "loaded from its file"),
        (Restless, "frozen"),
    ],
)
def test_planted_faults_are_found(policy: Any, told: str) -> None:
    with pytest.raises(ThzSyncError, match=told):
        check_policy(policy, floors=1)
