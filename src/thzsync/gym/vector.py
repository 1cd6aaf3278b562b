"""Environments in worker processes, several in each, which step together in one message."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.utils import batch_space

from thzsync.arrays import AnyArray
from thzsync.errors import ThzSyncError
from thzsync.gym.capacity import at_least
from thzsync.gym.environment import CollectivesEnv
from thzsync.gym.observations import Observation
from thzsync.workers.call import Answer, Call
from thzsync.workers.executor import default_workers
from thzsync.workers.processes import Worker

Step = tuple[Observation, AnyArray, AnyArray, AnyArray, dict[str, Any]]


class CollectivesVectorEnv(VectorEnv[Observation, Any, Any]):
    """Environments of one scenario side by side: what ``gymnasium.make_vec`` makes.

    Observations, rewards and infos are those of Gymnasium's ``SyncVectorEnv``. Every process steps
    its environments one after the other and sends one message, so short and long events even out:
    use several environments per core.
    """

    def __init__(
        self,
        num_envs: int = 1,
        processes: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        """Environments with the ``arguments`` of :class:`CollectivesEnv`.

        There is one process per core unless ``processes`` is given. Processes are fresh
        interpreters, so methods and policies of your own must come from an installed package or
        from a plug-in that the scenario names.
        """
        one = CollectivesEnv(**arguments)  # refuses wrong arguments before there are processes
        self.num_envs = at_least(1, num_envs, "num_envs")
        count = default_workers() if processes is None else at_least(1, processes, "processes")
        mode = AutoresetMode(autoreset_mode)
        self.metadata = {**one.metadata, "autoreset_mode": mode}
        self.single_observation_space = one.observation_space
        self.single_action_space = one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        ends = np.linspace(0, num_envs, min(count, num_envs) + 1).astype(int).tolist()
        self._parts = [slice(*ends) for ends in pairwise(ends)]
        self._workers = [Worker() for _ in self._parts]
        given = {**arguments, "scenario": one.scenario}
        self._ask("make", [(part.stop - part.start, mode, given) for part in self._parts])

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run in every environment; a single ``seed`` is that of the first one.

        ``options={"reset_mask": ...}`` resets only some of them.
        """
        if seed is None or isinstance(seed, int):
            seeds = [seed if seed is None else seed + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ThzSyncError(f"seed: found {len(seeds)} seeds; use one, or {self.num_envs}")
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        found = self._ask(
            "reset", [(seeds[part], mask[part], options or {}) for part in self._parts]
        )
        observations, infos = zip(*found, strict=True)
        return joined(observations), self._joined_infos(infos)

    def step(self, actions: Any) -> Step:
        """Carry out an event in every environment."""
        choices = np.asarray(actions)
        found = self._ask("step", [(choices[part],) for part in self._parts])
        observations, rewards, terminations, truncations, infos = zip(*found, strict=True)
        return (
            joined(observations),
            np.concatenate(rewards),
            np.concatenate(terminations),
            np.concatenate(truncations),
            self._joined_infos(infos),
        )

    def call(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        """A method's results, or an attribute's values, in all environments."""
        return tuple(chain(*self._ask("call", [(name, *arguments)] * len(self._parts))))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute's values in all environments."""
        return self.call(name)

    def close_extras(self, **_: Any) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.dismiss()

    def _ask(self, what: str, arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a function below in every process at the same time."""
        for worker, given in zip(self._workers, arguments, strict=True):
            worker.send(Call(f"{__name__}:{what}", pickle.dumps(given)))
        answers = [worker.answer() for worker in self._workers]
        return [_result(*each) for each in zip(self._workers, answers, strict=True)]

    def _joined_infos(self, infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
        return joined_infos(infos, [part.stop - part.start for part in self._parts])


def _result(worker: Worker, answer: Answer | float | None) -> Any:
    if not isinstance(answer, Answer):
        raise ThzSyncError(f"environments: a worker process died ({worker.end()})")
    if answer.error is not None:
        raise ThzSyncError(answer.error)
    return pickle.loads(answer.payload)


def joined(observations: Sequence[Observation]) -> Observation:
    """Observations of all processes behind each other."""
    return {key: np.concatenate([each[key] for each in observations]) for key in observations[0]}


def joined_infos(infos: Sequence[dict[str, Any]], counts: Sequence[int]) -> dict[str, Any]:
    """Infos of all processes behind each other; what a process does not mention is empty."""
    found: dict[str, Any] = {}
    for key in dict.fromkeys(chain(*infos)):
        parts = [info.get(key) for info in infos]
        example = next(part for part in parts if part is not None)
        if isinstance(example, dict):
            found[key] = joined_infos([part or {} for part in parts], counts)
            continue
        empty = None if example.dtype == object else 0
        found[key] = np.concatenate(
            [
                np.full((count, *example.shape[1:]), empty, example.dtype) if part is None else part
                for part, count in zip(parts, counts, strict=True)
            ]
        )
    return found


# -- in a worker process --------------------------------------------------------------------------

_MADE: Final[list[SyncVectorEnv]] = []
"""The environments of this process."""


def make(payload: bytes) -> bytes:
    """Make this process's environments."""
    count, mode, arguments = pickle.loads(payload)
    one = partial(CollectivesEnv, **arguments)
    _MADE.append(SyncVectorEnv([one] * count, copy=False, autoreset_mode=mode))
    return pickle.dumps(None)


def reset(payload: bytes) -> bytes:
    """Reset those of them that the mask names."""
    seeds, mask, options = pickle.loads(payload)
    (made,) = _MADE
    if not mask.any():
        return pickle.dumps((made._observations, {}))
    return pickle.dumps(made.reset(seed=seeds, options={**options, "reset_mask": mask}))


def step(payload: bytes) -> bytes:
    """Step all of them."""
    return pickle.dumps(_MADE[0].step(*pickle.loads(payload)))


def call(payload: bytes) -> bytes:
    """Call a method of each."""
    return pickle.dumps(_MADE[0].call(*pickle.loads(payload)))
