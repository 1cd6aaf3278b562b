"""The reward as the models learn it."""

from __future__ import annotations

import math

from thzsync.coordinator.interface import Outcome, Situation
from thzsync.errors import ThzSyncError


def learnable_reward(situation: Situation, outcome: Outcome, raw: bool = False) -> float:
    """The reward, its bad tail compressed unless ``raw``; refused when it is not finite."""
    if not math.isfinite(outcome.reward):
        raise ThzSyncError(
            f"{situation.kind} event: its reward is {outcome.reward}; a policy learns from finite "
            "rewards only: check the event's time, energy and their references"
        )
    return outcome.reward if raw else compress(outcome.reward)


def compress(reward: float) -> float:
    """Rewards below -1, the mean of All-Wired, fall only logarithmically.

    A straggler or an overloaded subband can cost ten times the mean. How bad a bad action was is
    of no use to anybody, but squared errors would spend most of the model on it. The mapping is
    smooth and rising, so it never swaps two actions of the same event.
    """
    return reward if reward >= -1.0 else -1.0 - math.log(-reward)
