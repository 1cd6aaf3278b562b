"""The per-event oracle: copies of the simulation tell the truth and disturb nothing."""

from __future__ import annotations

import polars as pl
import pytest

from thzsync.coordinator.static import ALL_WIRED, FIXED_RATIO, StaticPolicy
from thzsync.records import References
from thzsync.scenario import Scenario
from thzsync.simulation import Session, reference_costs, simulate
from thzsync.simulation.session import simulate_lookahead, true_reward

TINY = Scenario.preset("tiny")


def watched(
    seed: int, references: References, policy: StaticPolicy
) -> tuple[list[float], pl.DataFrame]:
    """Rewards that copies foresee for every decision, and the events that then happen."""
    session, foreseen = Session(TINY, seed, 1, references), []
    for situation in session:
        action = policy.decide(situation)
        foreseen.append(true_reward(session, situation, action, policy))
        session.send(action)
    return foreseen, session.record("fixed-ratio").events


def test_a_copy_knows_what_else_happens_at_the_same_instant() -> None:
    """Two stages that end together activate two events at once; both must be in the copy."""
    references = {"p2p": (1e-3, 0.1), "a2a": (1e-3, 0.1), "allreduce": (1e-3, 0.1)}
    for seed in range(3):
        for share in (0.0, 0.25):
            policy = StaticPolicy("static", share, 0.5 if share else 0.0)
            foreseen, events = watched(seed, references, policy)
            happened = events.sort("number")["reward"].to_list()
            assert foreseen == pytest.approx(happened, rel=1e-12)


def test_what_a_copy_foresees_is_what_happens() -> None:
    references = reference_costs(TINY, 3)
    plain = simulate(TINY, FIXED_RATIO, 1, 3, references)
    foreseen, events = watched(3, references, FIXED_RATIO)
    assert events.equals(plain.events)  # looking ahead leaves no trace
    assert foreseen == pytest.approx(events.sort("number")["reward"].to_list(), rel=1e-12)


def test_knowing_the_outcome_beats_every_fixed_policy() -> None:
    references = reference_costs(TINY, 0)
    best = simulate_lookahead(TINY, 0, references, ALL_WIRED).summary["reward"]
    for policy in ("all-wired", "all-wireless", "fixed-ratio"):
        assert best > simulate(TINY, policy, 1, 0, references).summary["reward"]
