"""Property 4: decisions are yielded; whoever drives a session gets the same world."""

from __future__ import annotations

import pytest

from thzsync.coordinator import Action, Outcome
from thzsync.coordinator.static import ALL_WIRED, FIXED_RATIO
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.simulation import Run, Session, simulate
from thzsync.testing.floors import RandomPolicy

TINY = Scenario.preset("tiny")
REFERENCES = {"p2p": (1e-3, 0.1), "a2a": (2e-3, 0.2), "allreduce": (3e-3, 0.3)}
SEED, ITERATIONS = 4, 2


def session() -> Session:
    return Session(TINY, SEED, ITERATIONS, REFERENCES)


def same_records(a: Run, b: Run) -> bool:
    return all(frame.equals(b.tables[name]) for name, frame in a.tables.items())


@pytest.fixture(scope="module")
def simulated() -> Run:
    return simulate(TINY, RandomPolicy(9), ITERATIONS, SEED, REFERENCES)


def test_a_session_driven_by_hand_records_what_simulate_records(simulated: Run) -> None:
    by_hand, policy = session(), RandomPolicy(9)
    for situation in by_hand:
        by_hand.send(policy.decide(situation))
    assert same_records(by_hand.record("random"), simulated)


def test_forks_that_run_to_the_end_change_nothing(simulated: Run) -> None:
    """A fork before and one after every tenth decision, each decided otherwise."""
    watched, policy = session(), RandomPolicy(9)
    for situation in watched:
        forks = [watched.fork()] if situation.decision % 10 == 0 else []
        watched.send(policy.decide(situation))
        for fork in forks:
            fork.send(ALL_WIRED.decide(situation))
            for following in fork:
                fork.send(FIXED_RATIO.decide(following))
    assert same_records(watched.record("random"), simulated)


def test_a_fork_that_decides_alike_sees_the_same_future() -> None:
    original = session()
    for _ in range(5):
        original.send(FIXED_RATIO.decide(next(original)))
    original.outcomes()
    fork = original.fork()
    futures = []
    for one in (original, fork):
        for situation in one:
            one.send(FIXED_RATIO.decide(situation))
        futures.append(one.outcomes())
    assert futures[0] == futures[1] != []


def test_every_decision_has_one_outcome_under_its_number() -> None:
    numbered, decided = session(), []
    outcomes: list[Outcome] = []
    for situation in numbered:
        decided.append(situation.decision)
        numbered.send(FIXED_RATIO.decide(situation))
        outcomes += numbered.outcomes()
    outcomes += numbered.outcomes()
    assert decided == list(range(len(decided)))
    assert sorted(outcome.decision for outcome in outcomes) == decided
    rewards = numbered.record("by hand").events.sort("number")["reward"].to_list()
    assert [o.reward for o in sorted(outcomes, key=lambda o: o.decision)] == rewards


def test_sending_twice_is_refused() -> None:
    answered = session()
    action = FIXED_RATIO.decide(next(answered))
    answered.send(action)
    with pytest.raises(ThzSyncError, match="event"):
        answered.send(action)


def test_sending_before_any_situation_is_refused() -> None:
    unasked = session()
    action: Action = FIXED_RATIO.decide(next(session()))
    with pytest.raises(ThzSyncError, match="situation"):
        unasked.send(action)


def test_iterating_without_sending_is_refused_and_the_situation_stays_open() -> None:
    forgotten = session()
    situation = next(forgotten)
    with pytest.raises(ThzSyncError, match="action"):
        next(forgotten)
    forgotten.send(FIXED_RATIO.decide(situation))
    assert next(forgotten).decision == situation.decision + 1
