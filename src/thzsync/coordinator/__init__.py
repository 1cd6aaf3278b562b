"""Who decides: static policies, bandits, DDQN and the beam search they share."""

from __future__ import annotations

from thzsync.coordinator.interface import Action, Outcome, Policy, Situation
from thzsync.coordinator.registry import make_policy, own_scenario, policy_names

__all__ = [
    "Action",
    "Outcome",
    "Policy",
    "Situation",
    "make_policy",
    "own_scenario",
    "policy_names",
]
