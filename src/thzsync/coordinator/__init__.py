"""Policies: static ones, bandits, DDQN, and the beam search that learners share."""

from __future__ import annotations

from thzsync.coordinator.interface import Action, Outcome, Policy, Situation, Terms
from thzsync.coordinator.registry import make_policy, own_scenario, policy_names

__all__ = [
    "Action",
    "Outcome",
    "Policy",
    "Situation",
    "Terms",
    "make_policy",
    "own_scenario",
    "policy_names",
]
