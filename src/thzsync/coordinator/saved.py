"""Bringing a trained policy back, to go on learning or to be deployed as it is."""

from __future__ import annotations

from pathlib import Path

from thzsync.coordinator.bandit import BanditPolicy
from thzsync.coordinator.ddqn import DdqnPolicy
from thzsync.coordinator.interface import Policy
from thzsync.coordinator.layout import check_arrays
from thzsync.coordinator.registry import make_policy
from thzsync.coordinator.store import check_shape, read_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

LearningPolicy = BanditPolicy | DdqnPolicy


def knowledge_of(policy: Policy) -> str:
    """What a policy knows before its run, as records say it (see `Run.learning`)."""
    if not isinstance(policy, BanditPolicy | DdqnPolicy):
        return "none"
    if policy.frozen:
        return "frozen"
    return "fresh" if policy.untaught else "taught"


def load_policy(
    path: str | Path,
    scenario: Scenario,
    streams: Streams,
    frozen: bool = False,
    expected: str | None = None,
    midway: bool = False,
) -> LearningPolicy:
    """The policy saved in a file; a frozen one neither explores nor learns.

    ``expected`` names the policy that the caller asked for, if he asked for one. ``midway`` goes on
    in the run in which it was saved: decisions that waited for their outcome then wait on.
    """
    name, shape, progress, arrays = read_policy(path)
    if expected is not None and name != expected:
        raise ThzSyncError(f"{path}: holds the policy {name!r}, not {expected!r}; ask for {name!r}")
    policy = make_policy(name, scenario, streams)
    if not isinstance(policy, BanditPolicy | DdqnPolicy):
        raise ThzSyncError(f"{path}: holds the policy {name!r}, which has nothing to load")
    check_shape(path, shape, policy.shape)
    check_arrays(path, shape, arrays)
    try:
        policy.restore(progress, arrays)
        if midway and isinstance(policy, DdqnPolicy):
            policy.reopen(progress)
    except ThzSyncError as error:
        raise ThzSyncError(f"{path}: {error}") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ThzSyncError(f"{path}: incomplete ({error}); save it again") from None
    policy.frozen = frozen
    return policy
