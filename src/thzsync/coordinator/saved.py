"""Policies in files: saved, and loaded for a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from thzsync.coordinator.interface import LearningPolicy, Policy
from thzsync.coordinator.registry import PolicyLike, make_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

if TYPE_CHECKING:
    from thzsync.coordinator.store import Shape

NEEDED: Final = ("state", "load", "freeze")
"""Methods of a policy that can be saved."""


def learning_policy(policy: Policy) -> LearningPolicy:
    """The policy, if it can be saved, loaded and frozen."""
    if isinstance(policy, LearningPolicy):
        return policy
    missing = ", ".join(name for name in NEEDED if not hasattr(policy, name))
    raise ThzSyncError(
        f"policy {policy.name!r} cannot be saved, loaded or frozen; it lacks {missing}"
    )


def knowledge_of(policy: Policy) -> str:
    """What a policy knows before its run, as recorded in `Run.learning`; empty if untold."""
    if not isinstance(policy, LearningPolicy):
        return "none"
    return str(getattr(policy, "knowledge", ""))


def save_policy(policy: Policy, path: str | Path, scenario: Scenario | None = None) -> None:
    """Write everything learnt for ``load_policy``.

    ``scenario`` is that of its runs; a policy that has a ``shape`` needs none.
    """
    from thzsync.coordinator.store import write_policy  # compiled: not for who only loads scenarios

    learner = learning_policy(policy)
    state = learner.state()
    if not isinstance(state, dict):
        raise ThzSyncError(f"policy {policy.name!r}: its state is {state!r}; return a dictionary")
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    values = {name: value for name, value in state.items() if name not in arrays}
    write_policy(path, policy.name, _shape(learner, scenario), values, arrays)


def load_policy(
    path: str | Path,
    scenario: Scenario,
    streams: Streams,
    frozen: bool = False,
    policy: PolicyLike | None = None,
) -> LearningPolicy:
    """The policy saved in a file; a frozen one neither explores nor learns.

    ``policy`` is the one that the caller asks for: a name, a factory, or an object to copy. It is
    needed where the file's policy is not registered.
    """
    from thzsync.coordinator.store import check_shape, read_policy

    name, shape, values, arrays = read_policy(path)
    made = make_policy(name if policy is None else policy, scenario, streams)
    if name != made.name:
        raise ThzSyncError(
            f"{path}: holds the policy {name!r}, not {made.name!r}; ask for {name!r}"
        )
    try:
        learner = learning_policy(made)
        check_shape(shape, _shape(learner, scenario))
        learner.load(arrays | values)
    except ThzSyncError as error:
        raise ThzSyncError(f"{path}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ThzSyncError(f"{path}: incomplete ({error}); save it again") from None
    if frozen:
        learner.freeze()
    return learner


def _shape(policy: LearningPolicy, scenario: Scenario | None) -> Shape:
    from thzsync.coordinator.store import FORMAT_VERSION, space_of

    shape = getattr(policy, "shape", None)
    if shape is None:
        if scenario is None:
            raise ThzSyncError(f"policy {policy.name!r} has no shape; save it with its scenario")
        shape = space_of(scenario)
    return {"format version": FORMAT_VERSION, **shape}
