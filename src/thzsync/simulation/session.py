"""A run that is driven step by step: situations come out, actions go in.

Use it as ``for situation in session: session.send(action)``. Outcomes of earlier decisions are in
``session.outcomes()``, each with the number of its decision.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

from thzsync.coordinator import Action, Outcome, Policy, Situation
from thzsync.errors import ThzSyncError, whole
from thzsync.records import Recorder, References, Run
from thzsync.records.parts import Decision
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation.engine import Engine
from thzsync.simulation.metrics import Progress

if TYPE_CHECKING:
    import polars as pl

LOOKAHEAD_SHARES = (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0)
"""THz shares that the lookahead tries."""


class Session:
    """An iterator over the decisions of a run."""

    def __init__(
        self,
        scenario: ScenarioLike,
        seed: int = 0,
        iterations: int = 1,
        references: References | None = None,
        detailed: bool = True,
    ) -> None:
        iterations = whole(iterations, "iterations", 1)
        setting = Scenario.of(scenario)
        if not setting.jobs:
            raise ThzSyncError(
                f"scenario {setting.name!r} has no job; add a [[jobs]] table, or use `synthesize`"
            )
        self._engine = Engine(setting, seed, iterations, references, detailed)

    def __iter__(self) -> Iterator[Situation]:
        return self

    def __next__(self) -> Situation:
        """The next event to decide; the previous one needs its action first."""
        if self._engine.pending is not None:
            raise ThzSyncError("a decision is pending; send an action before the next situation")
        situation = self._engine.proceed()
        if situation is None:
            raise StopIteration
        return situation

    def send(self, action: Action) -> None:
        """Carry out the event of the last situation with this action."""
        self._engine.decide(action)

    def outcomes(self) -> list[Outcome]:
        """Outcomes since the last call, in the order of completion."""
        outcomes, self._engine.outcomes = self._engine.outcomes, []
        return outcomes

    def finished(self) -> list[Progress]:
        """Iterations that have ended since the last call."""
        finished, self._engine.finished = self._engine.finished, []
        return finished

    def fork(self) -> Session:
        """An independent copy that records nothing; what never changes is shared."""
        engine = self._engine
        world = engine.world
        shared = (
            world.scenario,
            world.streams,
            world.topology,
            world.channel,
            world.overlay.coupling,
        )
        graphs = (run.graph for run in engine.jobs if run.iteration >= 0)
        memo: dict[int, object] = {id(part): part for part in (*shared, *graphs)}
        memo[id(engine.recorder)] = Recorder(keep=())
        if engine.packet_check is not None:
            memo[id(engine.packet_check)] = None
        memo |= {id(run.recorder): Recorder(keep=()) for run in engine.jobs}
        twin = object.__new__(Session)
        twin._engine = copy.deepcopy(engine, memo)
        return twin

    def new_rows(self) -> dict[str, pl.DataFrame]:
        """Rows of what has finished since the last call."""
        return self._engine.recorder.new_frames()

    def record(self, policy: str) -> Run:
        """All complete iterations as a run under this name."""
        return self._engine.record(policy)


class Driver:
    """Lets a policy decide in a session and learn from the outcomes."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._open: dict[int, tuple[Situation, Action]] = {}
        self._new: list[Decision] = []

    def answer(self, session: Session, situation: Situation) -> Action:
        """Learn from the known outcomes, then decide."""
        self.learn(session)
        action = self.policy.decide(situation)
        self._carry_out(session, situation, action)
        return action

    def repeat(self, session: Session, situation: Situation, action: Action) -> None:
        """Carry out a decision that the restored policy took before; it learns nothing again."""
        for outcome in session.outcomes():
            del self._open[outcome.decision]
        self._carry_out(session, situation, action)

    def new_decisions(self) -> list[Decision]:
        """Decisions since the last call."""
        decisions, self._new = self._new, []
        return decisions

    def _carry_out(self, session: Session, situation: Situation, action: Action) -> None:
        session.send(action)
        self._open[situation.decision] = (situation, action)
        self._new.append((action.chunks, action.power))

    def learn(self, session: Session) -> None:
        """Pass new outcomes to the policy, each with its situation and action."""
        for outcome in session.outcomes():
            situation, action = self._open.pop(outcome.decision)
            self.policy.learn(situation, action, outcome)


def simulate_lookahead(
    scenario: Scenario, seed: int, references: References, rest: Policy, iterations: int = 1
) -> Run:
    """Run iterations in which every event is decided with its true outcome known.

    This is the per-event hindsight oracle over uniform shares at full power and the action of
    another policy, given all earlier decisions. It simulates the event once per candidate, so it
    serves to measure regret, not to coordinate.
    """
    session = Session(scenario, seed, iterations, references)
    for situation in session:
        session.send(best_action(session, situation, rest))
    return session.record("lookahead")


def best_action(session: Session, situation: Situation, rest: Policy) -> Action:
    """The candidate with the best true reward of the pending event."""
    power = float(situation.power_levels[-1])
    uniform = [Action.uniform(situation.offer, share, power) for share in LOOKAHEAD_SHARES]
    candidates = (rest.decide(situation), *uniform)  # the first of equals is taken
    return max(candidates, key=lambda action: true_reward(session, situation, action, rest))


def true_reward(session: Session, situation: Situation, action: Action, rest: Policy) -> float:
    """The reward of an action, from a copy of the simulation that runs until the event is over."""
    fork = session.fork()
    fork.send(action)
    while True:
        following = next(fork, None)
        for outcome in fork.outcomes():
            if outcome.decision == situation.decision:
                return outcome.reward
        assert following is not None  # the event cannot end after all iterations have
        fork.send(rest.decide(following))
