"""What agents pay: steps per second side by side, and an episode with a new seed or a known one.

``python -m benchmarks.agents --scenario tiny --environments 8``; both figures are ratios. Their
parts are measured in turns and the best of each counts, so run it on an idle machine.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np

from thzsync.gym import ID, CollectivesEnv

SLICE_S = 0.5


def steps_per_s(envs: Any) -> float:
    """Steps of all environments together in one slice of time."""
    steps, start_s = 0, time.perf_counter()
    while time.perf_counter() - start_s < SLICE_S:
        envs.step(envs.action_space.sample())
        steps += envs.num_envs
    return steps / (time.perf_counter() - start_s)


def episode_s(env: CollectivesEnv, seed: int) -> float:
    """Time of one episode with random actions."""
    start_s = time.perf_counter()
    over, _ = False, env.reset(seed=seed)
    while not over:
        over = env.step(env.action_space.sample())[2]
    return time.perf_counter() - start_s


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="tiny")
    parser.add_argument("--environments", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_args()

    env = CollectivesEnv(given.scenario, actions="uniform")
    seeds = range(given.rounds)
    new_s, known_s = ([episode_s(env, seed) for seed in seeds] for _ in range(2))
    ratio = np.median(np.array(new_s) / np.array(known_s))
    print(f"episode with a new seed: {ratio:.2f} times one with a known seed")

    common = {"scenario": given.scenario, "actions": "uniform"}
    common["references"] = env._known[0]
    one = gymnasium.make_vec(ID, num_envs=1, vectorization_mode="sync", **common)
    many = gymnasium.make_vec(ID, num_envs=given.environments, **common)
    for envs in (one, many):
        envs.reset(seed=0)
        steps_per_s(envs)
    rates = [(steps_per_s(one), steps_per_s(many)) for _ in seeds]
    alone, together = map(max, zip(*rates, strict=True))
    print(f"{given.environments} environments: {together / alone:.2f} times the steps of one")
    many.close()


if __name__ == "__main__":
    main()
