"""Environments in processes show and do what they would do in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from tests.gym.episodes import REFERENCES
from thzsync import ThzSyncError
from thzsync.gym import ID, CollectivesEnv, CollectivesVectorEnv
from thzsync.gym.vector import joined_infos
from thzsync.simulation import reference_costs, simulate


def one() -> CollectivesEnv:
    return CollectivesEnv("tiny", actions="uniform", references=REFERENCES)


def several(count: int = 3, **more: Any) -> CollectivesVectorEnv:
    arguments = {"scenario": "tiny", "actions": "uniform", "references": REFERENCES}
    return CollectivesVectorEnv(count, **{**arguments, "processes": 2, **more})


@pytest.fixture(scope="module")
def three() -> Iterator[CollectivesVectorEnv]:
    made = several()
    yield made
    made.close()


def same(found: Any, expected: Any) -> None:
    """Equal to the last bit, whatever is nested in what."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            same(found[key], value)
    elif isinstance(expected, tuple) or getattr(expected, "dtype", None) == np.dtype(object):
        for mine, theirs in zip(found, expected, strict=True):
            same(mine, theirs)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_processes_do_what_one_process_does(mode: AutoresetMode) -> None:
    together, apart = SyncVectorEnv([one] * 3, autoreset_mode=mode), several(autoreset_mode=mode)
    assert apart.metadata["autoreset_mode"] is mode
    assert apart.observation_space == together.observation_space
    assert apart.action_space == together.action_space
    same(apart.reset(seed=5), together.reset(seed=5))
    together.action_space.seed(0)
    ended = 0
    for _ in range(36):
        actions = together.action_space.sample()
        expected = together.step(actions)
        same(apart.step(actions), expected)
        ended += expected[2].sum()
    assert ended == 2 * 3
    apart.close()


def test_some_environments_may_be_reset_alone(three: CollectivesVectorEnv) -> None:
    three.reset(seed=[1, 2, 3])
    first = three.step(np.array([1, 2, 3]))
    mask = np.array([False, False, True])
    observations, infos = three.reset(seed=[None, None, 3], options={"reset_mask": mask})
    assert infos["_seed"].tolist() == mask.tolist()
    assert np.array_equal(observations["rows"][:2], first[0]["rows"][:2])
    _, reward, *_, infos = three.step(np.array([1, 2, 3]))
    assert infos["decision"].tolist() == [2, 2, 1]
    assert reward[2] == first[1][2]


def test_options_and_attributes_reach_every_environment(three: CollectivesVectorEnv) -> None:
    three.reset(seed=0, options={"iterations": 2})
    ends = [three.step(np.array([0, 0, 0]))[2].any() for _ in range(32)]
    assert ends == [False] * 31 + [True]
    assert three.get_attr("iterations") == (1, 1, 1)
    runs = three.call("record", "zeros")
    assert [run.seed for run in runs] == [0, 1, 2]
    assert runs[1].iterations["completion_ms"].to_list() == (
        simulate("tiny", "all-wired", 2, 1, REFERENCES).iterations["completion_ms"].to_list()
    )


def test_a_mistake_in_one_environment_is_one_line_and_the_others_wait(
    three: CollectivesVectorEnv,
) -> None:
    three.reset(seed=0)
    with pytest.raises(ThzSyncError, match=r"action: .* is 68;"):
        three.step(np.array([0, 0, 68]))
    three.reset(seed=0)
    three.step(np.array([0, 0, 0]))


def test_wrong_arguments_start_no_process() -> None:
    for wrong in ({"actions": "all"}, {"count": 0}, {"processes": 0}):
        with pytest.raises(ThzSyncError):
            several(**wrong)


def test_a_process_that_dies_is_one_line_and_closing_ends_the_others() -> None:
    apart = several()
    processes = [worker.process for worker in apart._workers]
    apart.reset(seed=0)
    processes[0].kill()
    with pytest.raises(ThzSyncError, match="SIGKILL"):
        apart.step(np.array([0, 0, 0]))
    apart.close()
    assert all(process.poll() is not None for process in processes)


def test_gymnasium_makes_it_by_default_with_references_of_each_seed() -> None:
    made = gymnasium.make_vec(ID, num_envs=2, scenario="tiny", actions="uniform", processes=2)
    assert isinstance(made, CollectivesVectorEnv)
    made.reset(seed=4)
    with pytest.raises(ThzSyncError, match="seeds"):
        made.reset(seed=[1])
    while not made.step(np.array([0, 0]))[2].any():
        pass
    runs = made.call("record")
    assert [run.references for run in runs] == [reference_costs(one().scenario, s) for s in (4, 5)]
    made.close()


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasiums_own_processes_work(context: str) -> None:
    """A forked process has none of its parent's threads, so it must not wait for them."""
    simulate("tiny", "all-wired", 1).events.group_by("kind").len()
    made = [CollectivesEnv] * 2
    apart, together = AsyncVectorEnv(made, context=context), SyncVectorEnv(made)
    same(apart.reset(seed=1), together.reset(seed=1))
    together.action_space.seed(0)
    for _ in range(18):
        actions = together.action_space.sample()
        same(apart.step(actions), together.step(actions))
    apart.close()


def test_infos_that_some_processes_lack_are_empty_there() -> None:
    one = {
        "a": np.array([1, 2]),
        "_a": np.array([True, True]),
        "b": {"c": np.array([[1.0, 2.0]] * 2)},
    }
    other = {"d": np.array([None], dtype=object)}
    found = joined_infos([one, other], [2, 1])
    assert found["a"].tolist() == [1, 2, 0]
    assert found["_a"].tolist() == [True, True, False]
    assert found["b"]["c"].tolist() == [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]
    assert found["d"].tolist() == [None, None, None]
