"""Policies by name; packages add theirs through the entry-point group ``thzsync.policies``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final

from thzsync.coordinator.interface import Policy
from thzsync.coordinator.static import STATIC, StaticPolicy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

ENTRY_POINTS: Final = "thzsync.policies"
"""Entry-point group whose objects are :data:`PolicyFactory` functions."""

PolicyFactory = Callable[[Scenario, Streams], Policy]
"""Makes a policy for one run; all its random numbers come from the policy stream."""


def _learner(module: str, name: str) -> PolicyFactory:
    """A learner's factory, imported only when it is called, since learners compile kernels."""

    def make(scenario: Scenario, streams: Streams) -> Policy:
        factory: PolicyFactory = getattr(import_module(f"thzsync.coordinator.{module}"), name)
        return factory(scenario, streams)

    return make


def _static(policy: StaticPolicy) -> PolicyFactory:
    return lambda scenario, streams: policy


BUILT_IN: dict[str, PolicyFactory] = {
    "thz-sync": _learner("bandit", "collective_bandits"),
    "shared-bandit": _learner("bandit", "shared_bandit"),
    "ddqn": _learner("ddqn", "DdqnPolicy"),
    **{policy.name: _static(policy) for policy in STATIC},
}


def policy_names() -> list[str]:
    """Names of all policies, built-in ones first."""
    return [*BUILT_IN, *sorted(p.name for p in entry_points(group=ENTRY_POINTS))]


def make_policy(name: str, scenario: Scenario, streams: Streams) -> Policy:
    """A new policy of this name for one run."""
    if name in BUILT_IN:
        return BUILT_IN[name](scenario, streams)
    for point in entry_points(group=ENTRY_POINTS, name=name):
        factory: PolicyFactory = point.load()
        return factory(scenario, streams)
    raise ThzSyncError(f"{name}: no such policy; use one of {', '.join(policy_names())}")


def own_scenario(policy: Policy, scenario: Scenario) -> Scenario:
    """The scenario in which a policy runs: with the synthesis methods that it names, if any.

    Everything else stays, so channel, packets and stragglers are those of the other policies.
    """
    methods: dict[str, str] = dict(getattr(policy, "methods", ()))
    if not methods:
        return scenario
    collectives = scenario.collectives.with_methods(methods)
    return scenario.model_copy(update={"collectives": collectives})
