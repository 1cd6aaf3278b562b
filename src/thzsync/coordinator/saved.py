"""Learning policies: the base of all, and how a trained one is loaded."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thzsync.arrays import AnyArray
from thzsync.coordinator.interface import Policy
from thzsync.coordinator.registry import make_policy
from thzsync.coordinator.store import Shape, check_arrays, check_shape, read_policy, write_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams


class LearningPolicy(Policy):
    """A policy that learns and can be saved."""

    name: str = ""
    shape: Shape
    frozen = False
    """Whether it neither explores nor learns."""
    taught = False
    """Whether it has decided something or has been loaded."""

    @abstractmethod
    def arrays(self) -> dict[str, AnyArray]:
        """The arrays of the state."""

    @abstractmethod
    def progress(self) -> dict[str, Any]:
        """The rest of the state, as plain values."""

    @abstractmethod
    def restore(
        self, progress: Mapping[str, Any], arrays: Mapping[str, AnyArray], midway: bool = False
    ) -> None:
        """Take over a saved state.

        Decisions that waited for their outcome wait on if ``midway``, otherwise they are forgotten.
        """

    def save(self, path: str | Path) -> None:
        """Write everything learnt, replay included, for ``load_policy``."""
        write_policy(path, self.name, self.shape, self.progress(), self.arrays())


def knowledge_of(policy: Policy) -> str:
    """What a policy knows before its run, as recorded in `Run.learning`."""
    if not isinstance(policy, LearningPolicy):
        return "none"
    if policy.frozen:
        return "frozen"
    return "taught" if policy.taught else "fresh"


def load_policy(
    path: str | Path,
    scenario: Scenario,
    streams: Streams,
    frozen: bool = False,
    expected: str | None = None,
    midway: bool = False,
) -> LearningPolicy:
    """The policy saved in a file; a frozen one neither explores nor learns.

    ``expected`` names the policy that the caller asked for, if any. ``midway`` continues the run in
    which it was saved: decisions that waited for their outcome wait on.
    """
    name, shape, progress, arrays = read_policy(path)
    if expected is not None and name != expected:
        raise ThzSyncError(f"{path}: holds the policy {name!r}, not {expected!r}; ask for {name!r}")
    policy = make_policy(name, scenario, streams)
    if not isinstance(policy, LearningPolicy):
        raise ThzSyncError(f"{path}: holds the policy {name!r}, which has nothing to load")
    check_shape(path, shape, policy.shape)
    check_arrays(path, shape, arrays)
    try:
        policy.restore(progress, arrays, midway)
    except ThzSyncError as error:
        raise ThzSyncError(f"{path}: {error}") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ThzSyncError(f"{path}: incomplete ({error}); save it again") from None
    policy.frozen = frozen
    return policy
