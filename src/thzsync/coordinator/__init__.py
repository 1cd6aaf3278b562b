"""Policies: static ones, bandits, DDQN, and the beam search that learners share."""

from __future__ import annotations

from thzsync.coordinator.interface import (
    Action,
    LearningPolicy,
    Outcome,
    Policy,
    Situation,
    State,
    Terms,
)
from thzsync.coordinator.registry import (
    PolicyFactory,
    PolicyLike,
    make_policy,
    own_scenario,
    policy_names,
    register_policy,
)
from thzsync.coordinator.saved import load_policy, save_policy

__all__ = [
    "Action",
    "LearningPolicy",
    "Outcome",
    "Policy",
    "PolicyFactory",
    "PolicyLike",
    "Situation",
    "State",
    "Terms",
    "load_policy",
    "make_policy",
    "own_scenario",
    "policy_names",
    "register_policy",
    "save_policy",
]
