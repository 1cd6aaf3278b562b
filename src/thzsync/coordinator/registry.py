"""Policies by name; third parties add theirs through the entry-point group ``thzsync.policies``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from thzsync.coordinator.interface import Policy
from thzsync.coordinator.static import (
    ALL_WIRED,
    ALL_WIRED_BEST,
    ALL_WIRELESS,
    ALL_WIRELESS_BEST,
    FIXED_RATIO,
)
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

PolicyFactory = Callable[[Scenario, Streams], Policy]
"""Builds a fresh policy for one run; all its randomness comes from the policy stream."""


def _thz_sync(scenario: Scenario, streams: Streams) -> Policy:
    from thzsync.coordinator.bandit import collective_bandits

    return collective_bandits(scenario, streams)


def _shared_bandit(scenario: Scenario, streams: Streams) -> Policy:
    from thzsync.coordinator.bandit import shared_bandit

    return shared_bandit(scenario, streams)


def _ddqn(scenario: Scenario, streams: Streams) -> Policy:
    from thzsync.coordinator.ddqn import ddqn

    return ddqn(scenario, streams)


BUILT_IN: dict[str, PolicyFactory] = {
    "thz-sync": _thz_sync,
    "shared-bandit": _shared_bandit,
    "ddqn": _ddqn,
    "fixed-ratio": lambda scenario, streams: FIXED_RATIO,
    "all-wired": lambda scenario, streams: ALL_WIRED,
    "all-wireless": lambda scenario, streams: ALL_WIRELESS,
    "all-wired-best": lambda scenario, streams: ALL_WIRED_BEST,
    "all-wireless-best": lambda scenario, streams: ALL_WIRELESS_BEST,
}


def policy_names() -> list[str]:
    """Every policy that can be named, built-in ones first."""
    return [*BUILT_IN, *sorted(p.name for p in entry_points(group="thzsync.policies"))]


def make_policy(name: str, scenario: Scenario, streams: Streams) -> Policy:
    """A fresh policy of this name for one run."""
    if name in BUILT_IN:
        return BUILT_IN[name](scenario, streams)
    for point in entry_points(group="thzsync.policies", name=name):
        factory: PolicyFactory = point.load()
        return factory(scenario, streams)
    raise ThzSyncError(f"{name}: no such policy; use one of {', '.join(policy_names())}")


def own_scenario(policy: Policy, scenario: Scenario) -> Scenario:
    """The scenario in which a policy runs: with the synthesis methods that it brings, if any.

    Everything else stays, so it meets the same channel, packets and stragglers as its rivals.
    """
    methods: dict[str, str] = dict(getattr(policy, "methods", ()))
    if not methods:
        return scenario
    collectives = scenario.collectives.with_methods(methods)
    return scenario.model_copy(update={"collectives": collectives})
