"""Agents that play an episode to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thzsync.coordinator import Outcome
from thzsync.gym import CollectivesEnv
from thzsync.gym.observations import Observation

REFERENCES = {"p2p": (1e-3, 0.1), "a2a": (2e-3, 0.2), "allreduce": (3e-3, 0.3)}
"""Any will do where rewards are only compared."""

Agent = Callable[[Observation], Any]


@dataclass
class Episode:
    """What an agent got to see, step by step."""

    observations: list[Observation] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    outcomes: list[list[Outcome]] = field(default_factory=list)
    decisions: list[int] = field(default_factory=list)


def play(env: CollectivesEnv, agent: Agent, seed: int | None = None) -> Episode:
    """An episode from reset to termination; every observation lies in the space."""
    observation, info = env.reset(seed=seed)
    episode, over = Episode([observation]), False
    while not over:
        assert observation in env.observation_space
        episode.decisions.append(info["decision"])
        observation, reward, over, truncated, info = env.step(agent(observation))
        assert not truncated
        episode.observations.append(observation)
        episode.rewards.append(reward)
        episode.outcomes.append(info["outcomes"])
    assert observation in env.observation_space
    return episode


def random_agent(env: CollectivesEnv, seed: int) -> Agent:
    """Any element of the action space."""
    env.action_space.seed(seed)
    return lambda _: env.action_space.sample()


def same(one: Observation, other: Observation) -> bool:
    """Whether two observations are equal to the last bit."""
    return all(np.array_equal(value, other[key]) for key, value in one.items())
