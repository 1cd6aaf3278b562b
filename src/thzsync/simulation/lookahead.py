"""A driver that knows the future: it tries candidates on copies of the whole simulation.

It answers how well each single event could have been decided, given all decisions before it: the
per-event hindsight oracle, over another policy's action and uniform shares at full power. It costs
one simulation of the event per candidate, so it serves to measure regret, never to coordinate.
"""

from __future__ import annotations

from thzsync.coordinator import Action, Policy, Situation
from thzsync.records import References, Run
from thzsync.scenario import Scenario
from thzsync.simulation.session import Session

SHARES = (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0)


def best_action(session: Session, situation: Situation, rest: Policy) -> Action:
    """The candidate with the best true reward of the pending event."""
    power = float(situation.power_levels[-1])
    uniform = [Action.uniform(situation.offer, share, power) for share in SHARES]
    best, best_reward = uniform[0], -float("inf")
    for action in (rest.decide(situation), *uniform):
        reward = true_reward(session, situation, action, rest)
        if reward > best_reward:
            best, best_reward = action, reward
    return best


def true_reward(session: Session, situation: Situation, action: Action, rest: Policy) -> float:
    """What an action would bring, by running a copy of the simulation until the event is over."""
    fork = session.fork()
    fork.send(action)
    while True:
        following = next(fork, None)
        for outcome in fork.outcomes():
            if outcome.decision == situation.decision:
                return outcome.reward
        assert following is not None  # the event cannot end after all iterations have
        fork.send(rest.decide(following))


def simulate_lookahead(
    scenario: Scenario, seed: int, references: References, rest: Policy, iterations: int = 1
) -> Run:
    """Run iterations in which every event is decided with full knowledge of its outcome."""
    session = Session(scenario, seed, iterations, references)
    for situation in session:
        session.send(best_action(session, situation, rest))
    return session.record("lookahead")
