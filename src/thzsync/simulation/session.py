"""A run that is driven step by step: situations come out, actions go in.

``for situation in session: session.send(action)`` is all there is to it. Outcomes of earlier
decisions wait in ``session.outcomes()``, each with the number of its decision.
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
        """The next event to decide; the one before must have been answered."""
        if self._engine.pending is not None:
            raise ThzSyncError("a decision is pending; send an action before the next situation")
        situation = self._engine.proceed()
        if situation is None:
            raise StopIteration
        return situation

    def send(self, action: Action) -> None:
        """Carry out the event of the last situation by this action."""
        self._engine.decide(action)

    def outcomes(self) -> list[Outcome]:
        """What decisions have led to since this was last asked, in the order of completion."""
        outcomes, self._engine.outcomes = self._engine.outcomes, []
        return outcomes

    def finished(self) -> list[Progress]:
        """Iterations that have ended since this was last asked."""
        finished, self._engine.finished = self._engine.finished, []
        return finished

    def fork(self) -> Session:
        """A copy that goes its own way and records nothing; what never changes is shared."""
        engine = self._engine
        world = engine.world
        shared = (world.scenario, world.streams, world.topology, world.channel)
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
        """Rows of what has finished since this was last asked."""
        return self._engine.recorder.new_frames()

    def record(self, policy: str) -> Run:
        """All iterations that are complete, as a run under this name."""
        return self._engine.record(policy)


class Driver:
    """Lets a policy answer a session, and learn from what becomes of its answers."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._open: dict[int, tuple[Situation, Action]] = {}
        self._new: list[Decision] = []

    def answer(self, session: Session, situation: Situation) -> Action:
        """Learn from what is known by now, then decide."""
        self.learn(session)
        action = self.policy.decide(situation)
        self._carry_out(session, situation, action)
        return action

    def repeat(self, session: Session, situation: Situation, action: Action) -> None:
        """Carry out what the policy decided in another life, and has learnt from since."""
        for outcome in session.outcomes():
            del self._open[outcome.decision]
        self._carry_out(session, situation, action)

    def new_decisions(self) -> list[Decision]:
        """What was decided since this was last asked."""
        decisions, self._new = self._new, []
        return decisions

    def _carry_out(self, session: Session, situation: Situation, action: Action) -> None:
        session.send(action)
        self._open[situation.decision] = (situation, action)
        self._new.append((action.thz_chunks, action.power))

    def learn(self, session: Session) -> None:
        """Hand new outcomes to the policy, each with the situation and action that led to it."""
        for outcome in session.outcomes():
            situation, action = self._open.pop(outcome.decision)
            self.policy.learn(situation, action, outcome)
