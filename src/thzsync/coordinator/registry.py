"""Policies by name; packages add theirs through the entry-point group ``thzsync.policies``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points

from thzsync.coordinator.interface import Policy
from thzsync.coordinator.static import STATIC, StaticPolicy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

PolicyFactory = Callable[[Scenario, Streams], Policy]
"""Makes a policy for one run; all its random numbers come from the policy stream."""


def _learner(module: str, name: str) -> PolicyFactory:
    """A learner's factory, imported only when it is called."""

    def make(scenario: Scenario, streams: Streams) -> Policy:
        policy: Policy = getattr(import_module(f"thzsync.coordinator.{module}"), name)(
            scenario, streams
        )
        return policy

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
    return [*BUILT_IN, *sorted(p.name for p in entry_points(group="thzsync.policies"))]


def make_policy(name: str, scenario: Scenario, streams: Streams) -> Policy:
    """A new policy of this name for one run."""
    if name in BUILT_IN:
        return BUILT_IN[name](scenario, streams)
    for point in entry_points(group="thzsync.policies", name=name):
        factory: PolicyFactory = point.load()
        return factory(scenario, streams)
    raise ThzSyncError(f"{name}: no such policy; use one of {', '.join(policy_names())}")


def own_scenario(policy: Policy, scenario: Scenario) -> Scenario:
    """The scenario in which a policy runs: with the policy's own synthesis methods, if any.

    Everything else stays, so channel, packets and stragglers are the same as for its rivals.
    """
    methods: dict[str, str] = dict(getattr(policy, "methods", ()))
    if not methods:
        return scenario
    collectives = scenario.collectives.with_methods(methods)
    return scenario.model_copy(update={"collectives": collectives})
