"""Who decides: static policies, bandits, DDQN and the beam search they share."""

from __future__ import annotations

from thzsync.coordinator.interface import Action, Context, Outcome, Policy
from thzsync.coordinator.registry import make_policy, policy_names

__all__ = ["Action", "Context", "Outcome", "Policy", "make_policy", "policy_names"]
