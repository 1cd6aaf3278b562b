"""Policies by name; third parties add theirs through the entry-point group ``thzsync.policies``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
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


def _learner(module: str, name: str) -> PolicyFactory:
    """A learner's factory, imported with all that it needs only when it is called."""

    def make(scenario: Scenario, streams: Streams) -> Policy:
        policy: Policy = getattr(import_module(module), name)(scenario, streams)
        return policy

    return make


BUILT_IN: dict[str, PolicyFactory] = {
    "thz-sync": _learner("thzsync.coordinator.bandit", "collective_bandits"),
    "shared-bandit": _learner("thzsync.coordinator.bandit", "shared_bandit"),
    "ddqn": _learner("thzsync.coordinator.ddqn", "DdqnPolicy"),
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
