"""An episode is a run: same world, same records, and no reward lost."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.gym.episodes import REFERENCES, play, random_agent, same
from tests.simulation.scenarios import scenarios
from thzsync import ThzSyncError, audit, simulate
from thzsync.gym import ID, CollectivesEnv
from thzsync.gym.actions import Full
from thzsync.gym.capacity import capacity_of
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import scenario_graph

TINY = Scenario.preset("tiny")
STEPS, LEVELS = 17, 4
"""Shares and power levels of the preset."""


def tiny(**more: Any) -> CollectivesEnv:
    return CollectivesEnv(**{"scenario": TINY, "references": REFERENCES, **more})


@pytest.mark.parametrize("actions", ["full", "uniform"])
def test_gymnasiums_own_checker_has_no_complaint(actions: str) -> None:
    made = gymnasium.make(ID, scenario="tiny", actions=actions)
    assert isinstance(made.unwrapped, CollectivesEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)


@pytest.mark.parametrize("actions", ["full", "uniform"])
def test_a_random_agents_run_can_be_audited(actions: str) -> None:
    env = tiny(actions=actions, iterations=2, detailed=True)
    play(env, random_agent(env, 1), seed=1)
    run = env.record("random agent")
    assert run.policy == "random agent"
    assert run.iterations.height == 2
    verdict = audit(run)
    assert verdict.facts > 10_000
    assert verdict.violations == []


@pytest.mark.parametrize(
    ("policy", "step", "level"),
    [("all-wired", 0, 0), ("fixed-ratio", 8, 1), ("all-wireless", 16, 3)],
)
@pytest.mark.parametrize("actions", ["full", "uniform"])
def test_an_agent_that_plays_like_a_policy_leaves_its_record(
    policy: str, step: int, level: int, actions: str
) -> None:
    env = CollectivesEnv("tiny", iterations=2, actions=actions, detailed=True)
    if actions == "full":
        units, senders = (len(env.reset()[0][mask]) for mask in ("unit_mask", "sender_mask"))
        choice = np.repeat((step, level), (units, senders))
    else:
        choice = np.int64(step * LEVELS + level)
    play(env, lambda _: choice, seed=7)
    run, simulated = env.record(policy), simulate("tiny", policy, iterations=2, seed=7)
    assert run.iterations.equals(simulated.iterations)
    assert all(table.equals(simulated.tables[name]) for name, table in run.tables.items())


def test_rewards_of_an_episode_sum_to_those_of_its_events() -> None:
    env = tiny(iterations=2)
    episode = play(env, random_agent(env, 3), seed=3)
    for reward, outcomes in zip(episode.rewards, episode.outcomes, strict=True):
        assert reward == pytest.approx(math.fsum(outcome.reward for outcome in outcomes))
    events = env.record().events
    assert math.fsum(episode.rewards) == pytest.approx(events["reward"].sum())
    assert math.fsum(episode.rewards) < -1.0


def test_every_decision_has_one_outcome_not_before_it_and_some_come_later() -> None:
    env = tiny(iterations=2)
    episode = play(env, random_agent(env, 4), seed=4)
    assert episode.decisions == list(range(len(episode.decisions)))
    known = [(o.decision, step) for step, each in enumerate(episode.outcomes) for o in each]
    assert sorted(decision for decision, _ in known) == episode.decisions
    assert all(decision <= step for decision, step in known)
    assert any(decision < step for decision, step in known)


def test_references_are_those_of_the_seed_and_worked_out_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def counted(scenario: Scenario, seed: int) -> Any:
        asked.append(seed)
        return reference_costs(scenario, seed)

    monkeypatch.setattr("thzsync.gym.environment.reference_costs", counted)
    env = CollectivesEnv("tiny")
    for seed in (5, 6, 5):
        play(env, random_agent(env, 0), seed=seed)
        assert env.record().references == reference_costs(TINY, seed)
    assert asked == [5, 6]


def test_the_same_seed_shows_the_same_and_another_one_something_else() -> None:
    one, two = (play(env, random_agent(env, 9), seed=2) for env in (tiny(), tiny()))
    assert one.rewards == two.rewards
    assert all(map(same, one.observations, two.observations))
    other = tiny()
    assert not same(other.reset(seed=3)[0], one.observations[0])


def test_runs_that_nobody_seeds_differ_but_follow_from_the_first_seed() -> None:
    seeds = []
    for env in (tiny(), tiny()):
        env.reset(seed=8)
        seeds.append([env.reset()[1]["seed"] for _ in range(3)])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3


def test_options_may_give_a_run_another_length() -> None:
    env = tiny()
    env.reset(seed=0, options={"iterations": 3})
    over = False
    while not over:
        _, _, over, _, _ = env.step(env.action_space.sample())
    assert env.record().iterations.height == 3


@pytest.mark.parametrize("actions", ["full", "uniform"])
def test_the_mask_belongs_to_the_event_that_waits(actions: str) -> None:
    env = tiny(actions=actions)
    with pytest.raises(ThzSyncError, match="reset"):
        env.action_masks()
    (observation, info), over = env.reset(seed=0), False
    while not over:
        mask = info["action_mask"]
        assert np.array_equal(mask, env.action_masks())
        if actions == "full":
            free = np.add.reduceat(mask, np.r_[0, np.cumsum(env.action_space.nvec)[:-1]]) > 1
            exists = np.r_[observation["unit_mask"], observation["sender_mask"]]
            assert np.array_equal(free, exists)
        observation, _, over, _, info = env.step(env.action_space.sample())
    assert "action_mask" not in info


def test_a_wrapper_may_cut_an_episode_short() -> None:
    env = gymnasium.make(ID, max_episode_steps=3, references=REFERENCES)
    env.reset(seed=0)
    ends = [env.step(env.action_space.sample())[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_environments_side_by_side_play_the_same_episodes() -> None:
    made = [lambda: tiny(actions="uniform")] * 2
    vector = gymnasium.vector.SyncVectorEnv(made)
    vector.reset(seed=[1, 2])
    rewards = []
    for _ in range(12):
        _, reward, _, _, infos = vector.step(np.array([40, 50]))
        rewards.append(reward)
    assert infos["decision"].tolist() == [12, 12]
    for number, (choice, seed) in enumerate(((40, 1), (50, 2))):
        alone = play(tiny(actions="uniform"), lambda _, c=choice: np.int64(c), seed=seed)
        assert [reward[number] for reward in rewards] == alone.rewards[:12]


def test_a_vector_begins_anew_when_an_episode_ends() -> None:
    vector = gymnasium.make_vec(
        ID, num_envs=2, vectorization_mode="sync", references=REFERENCES, actions="uniform"
    )
    vector.reset(seed=0)
    ended = [vector.step(vector.action_space.sample())[2] for _ in range(40)]
    assert np.sum(ended, axis=0).tolist() == [2, 2]


def test_a_fork_of_the_session_leaves_the_episode_alone() -> None:
    env, undisturbed = tiny(), tiny()
    expected = play(undisturbed, random_agent(undisturbed, 5), seed=5)
    agent = random_agent(env, 5)
    coding = Full(capacity_of(TINY), STEPS, LEVELS)

    def looks_ahead(observation: Any) -> Any:
        assert env.session is not None
        assert env.situation is not None
        choice = agent(observation)
        fork = env.session.fork()
        fork.send(coding.action(env.situation, choice))
        next(fork, None)
        return choice

    assert play(env, looks_ahead, seed=5).rewards == expected.rewards


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
def test_full_queues_stay_within_the_space(fidelity: str) -> None:
    crowded = TINY.with_(
        {"optical.background.load": 0.8, "optical.fidelity": fidelity, "optical.access_bps": 1e10}
    )
    env = tiny(scenario=crowded, actions="uniform")
    episode = play(env, lambda _: 0, seed=0)
    assert max(o["rows"][:, 4].max() for o in episode.observations) > 0.05


@given(scenarios(with_faults=True), st.integers(0, 99))
def test_any_scenario_can_be_played_by_any_agent(scenario: Scenario, seed: int) -> None:
    assume(scenario_graph(scenario, Topology(scenario.floor), Streams(0)).events)
    env = tiny(scenario=scenario, detailed=True)
    episode = play(env, random_agent(env, seed), seed=seed)
    known = sorted(outcome.decision for outcome in chain(*episode.outcomes))
    assert known == episode.decisions
    assert audit(env.record()).violations == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenario": "tyni"}, "tyni: "),
        ({"scenario": "single-ring"}, ".*'single-ring'"),
        ({"iterations": 0}, "iterations: found 0; .*1"),
        ({"iterations": True}, "iterations: found True; .*1"),
        ({"actions": "all"}, "actions: found 'all'; .*full, uniform"),
        ({"count_levels": 1}, "count_levels: found 1; .*2"),
        ({"max_units": 0}, "max_units: found 0; .*1"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(arguments: Any, message: str) -> None:
    with pytest.raises(ThzSyncError, match=f"^{message}") as error:
        CollectivesEnv(**arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": 2, "iteration": 3}, "options: found iteration, speed; .*iterations"),
        ({"iterations": "three"}, "options: iterations: found 'three'; "),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ThzSyncError, match=message):
        tiny().reset(seed=0, options=options)


def test_a_step_needs_a_run_that_waits_for_it() -> None:
    env = tiny(actions="uniform")
    with pytest.raises(ThzSyncError, match=r"^step: .*reset\(\)"):
        env.step(0)
    with pytest.raises(ThzSyncError, match=r"^record: .*reset\(\)"):
        env.record()
    play(env, lambda _: 0, seed=0)
    with pytest.raises(ThzSyncError, match=r"^step: .*reset\(\)"):
        env.step(0)


def test_a_reward_that_is_not_finite_is_refused() -> None:
    env = tiny(actions="uniform", references=dict.fromkeys(REFERENCES, (1e-320, 1.0)))
    with pytest.raises(ThzSyncError, match=r"decision \d+: .*-inf"):
        play(env, lambda _: 0, seed=0)
