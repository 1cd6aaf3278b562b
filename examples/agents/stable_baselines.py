"""PPO or DQN of Stable-Baselines3 learn to decide on one scenario.

    pip install 'thzsync[rl]' stable-baselines3
    python examples/stable_baselines.py ppo --steps 20000

Every episode has a seed of its own. At the end the agent decides in seeds that it has not seen, and
the mean reward of an event is printed beside that of All-Wired, which sends nothing over THz.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import gymnasium
from stable_baselines3 import DQN, PPO

ID = "thzsync.gym:thzsync/Collectives-v0"
TEST_SEEDS = range(1000, 1020)
SETTINGS: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 512, "batch_size": 64, "gamma": 0.9, "ent_coef": 0.01},
    "dqn": {"learning_starts": 1000, "gamma": 0.9, "exploration_fraction": 0.3},
}


def make_env(scenario: str) -> gymnasium.Env[Any, Any]:
    """One share of THz and one power level for all units of an event: a single number."""
    return gymnasium.make(ID, scenario=scenario, actions="uniform", count_levels=5)


def mean_reward(env: gymnasium.Env[Any, Any], decide: Callable[[Any], Any]) -> float:
    """Mean reward of all events in the test seeds."""
    total, events = 0.0, 0
    for seed in TEST_SEEDS:
        (observation, _), over = env.reset(seed=seed), False
        while not over:
            observation, reward, over, _, info = env.step(decide(observation))
            total, events = total + float(reward), events + len(info["outcomes"])
    return total / events


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithm", choices=SETTINGS)
    parser.add_argument("--scenario", default="tiny")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    learner = {"ppo": PPO, "dqn": DQN}[given.algorithm]
    settings = SETTINGS[given.algorithm]
    agent = learner("MultiInputPolicy", make_env(given.scenario), seed=given.seed, **settings)
    agent.learn(given.steps)

    test = make_env(given.scenario)
    learnt = mean_reward(
        test, lambda observation: agent.predict(observation, deterministic=True)[0]
    )
    wired = mean_reward(test, lambda _: 0)
    print(f"{given.algorithm}: {learnt:.3f}, All-Wired: {wired:.3f}")


if __name__ == "__main__":
    main()
