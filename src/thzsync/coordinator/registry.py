"""Policies by name; packages add theirs through entry points, scripts by registering them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any, Final, TypeGuard

from thzsync.coordinator.interface import Policy
from thzsync.coordinator.static import STATIC
from thzsync.errors import ThzSyncError, in_one_line
from thzsync.registry import Registry
from thzsync.scenario import Scenario
from thzsync.streams import Streams

ENTRY_POINTS: Final = "thzsync.policies"
"""Entry-point group whose objects are :data:`PolicyFactory` objects or policies."""

PolicyFactory = Callable[..., Policy]
"""Makes a policy for one run: a class or a function.

It may have the parameters ``scenario``, ``streams`` (random numbers come from the stream
``policy``) and ``parameters``: the section ``[parameters.NAME]`` of the scenario, if its attribute
``parameters`` is a model of that section.
"""
PolicyLike = str | Policy | PolicyFactory
"""A name, an object of which every run gets a copy, or a factory."""


@dataclass(frozen=True)
class _Learner:
    """A factory that is imported when it is called, since learners compile kernels."""

    name: str
    module: str
    factory: str

    def __call__(self, scenario: Scenario, streams: Streams) -> Policy:
        module = import_module(f"thzsync.coordinator.{self.module}")
        policy: Policy = getattr(module, self.factory)(scenario, streams)
        return policy


BUILT_IN: Final[tuple[Policy | PolicyFactory, ...]] = (
    _Learner("thz-sync", "bandit", "collective_bandits"),
    _Learner("shared-bandit", "bandit", "shared_bandit"),
    _Learner("ddqn", "ddqn", "DdqnPolicy"),
    *STATIC,
)


def is_policy(thing: object) -> TypeGuard[Policy]:
    """Whether it is a policy itself; a class is a factory."""
    return hasattr(thing, "decide") and not isinstance(thing, type)


def _check(thing: Any, place: str) -> None:
    if not is_policy(thing) and not callable(thing):
        raise ThzSyncError(f"{place}: found {type(thing).__name__}; give a policy or its class")
    if not isinstance(getattr(thing, "name", None), str):
        raise ThzSyncError(f"{place}: {thing!r} has no name; give it an attribute name")


def _loaded(entry: Any) -> Any:
    """What an entry point names; a factory without a name gets that of its entry point."""
    thing = entry.load()
    if not hasattr(thing, "name"):
        thing.name = entry.name
    return thing


POLICIES: Final[Registry[str, Any]] = Registry(
    "policy", ENTRY_POINTS, lambda: BUILT_IN, _check, lambda thing: str(thing.name), _loaded
)


def register_policy(policy: Any) -> Any:
    """Make a policy known by its name, for this process: a class, another factory or an object."""
    return POLICIES.register(policy)


def policy_names() -> list[str]:
    """Names of all policies, built-in ones first."""
    return list(POLICIES.known())


def find_policy(name: str) -> Policy | PolicyFactory:
    """The registered policy or factory of this name."""
    found: Policy | PolicyFactory = POLICIES.find(name)
    return found


def make_policy(policy: PolicyLike, scenario: Scenario, streams: Streams) -> Policy:
    """A new policy for one run: what a factory makes, or a copy of an object."""
    source = find_policy(policy) if isinstance(policy, str) else policy
    if is_policy(source):
        return _copied(source)
    if not callable(source):
        raise ThzSyncError(f"policy: found {source!r}; use a name, a policy or its class")
    made: object = _call(source, scenario, streams)
    if not is_policy(made):
        raise ThzSyncError(f"policy: {source!r} made {made!r}, which decides nothing")
    if isinstance(policy, str) and made.name != policy:
        raise ThzSyncError(f"policy {policy!r} calls itself {made.name!r}; give it one name")
    return made


def _copied(policy: Policy) -> Policy:
    try:
        return copy.deepcopy(policy)
    except Exception as error:  # classes raise many kinds if they cannot be copied
        raise ThzSyncError(
            f"policy {policy.name!r} cannot be copied for a run ({in_one_line(error)}); give its "
            "class or a function that makes it"
        ) from error


def _call(factory: Any, scenario: Scenario, streams: Streams) -> Any:
    """Call a factory with what it has parameters for; under other names it gets both in order."""
    offered: dict[str, Any] = {"scenario": scenario, "streams": streams}
    if hasattr(factory, "parameters") and hasattr(factory, "name"):
        offered["parameters"] = scenario.parameters_for(factory)
    wanted = signature(factory)
    named = {name: value for name, value in offered.items() if name in wanted.parameters}
    for arguments, keywords in ((), named), ((scenario, streams), {}):
        try:
            wanted.bind(*arguments, **keywords)
        except TypeError:
            continue
        return factory(*arguments, **keywords)
    raise ThzSyncError(
        f"policy: {getattr(factory, '__name__', factory)}{wanted} needs more than scenario, "
        "streams and parameters; give an object instead"
    )


def own_scenario(policy: Policy, scenario: Scenario) -> Scenario:
    """The scenario in which a policy runs: with the synthesis methods that it names, if any.

    Everything else stays, so channel, packets and stragglers are those of the other policies.
    """
    methods: dict[str, str] = dict(getattr(policy, "methods", ()))
    if not methods:
        return scenario
    collectives = scenario.collectives.with_methods(methods)
    return scenario.model_copy(update={"collectives": collectives})
