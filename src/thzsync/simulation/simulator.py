"""Whole runs of one policy and seed, from the start or resumed after an interruption.

An interruption lies before a decision. The earlier decisions are carried out again without asking
the policy, which is then restored with the outcomes that it has not learnt from yet. So the rest of
the run is the same bit for bit as without the interruption.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from thzsync.coordinator import (
    Action,
    LearningPolicy,
    Policy,
    PolicyFactory,
    Situation,
    load_policy,
    make_policy,
    own_scenario,
    save_policy,
)
from thzsync.coordinator.registry import is_policy
from thzsync.coordinator.saved import knowledge_of
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import ThzSyncError, interrupted
from thzsync.records import References, Run
from thzsync.records.certificate import warn_beyond
from thzsync.records.journal import Journal, RunSpec
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation.metrics import Progress
from thzsync.simulation.results import mean_costs, refuse_not_finite
from thzsync.simulation.session import Driver, Session
from thzsync.streams import Streams

Tell = Callable[[Progress], None]
"""Called with every iteration that has ended."""
Step = Callable[[], object]
"""Called before every decision, for counting them."""
Stop = Callable[[], bool]
"""Whether the run should end here."""
REFERENCE_ITERATIONS = 3
"""Iterations of All-Wired over which the reward's references are averaged."""


def reference_costs(scenario: Scenario, seed: int, step: Step | None = None) -> References:
    """Mean time [s] and energy [J] per collective type of All-Wired in the same realisation.

    ``step`` is called before every decision.
    """

    def go_on() -> bool:
        if step is not None:
            step()
        return False

    optical = scenario.optical.model_copy(update={"replayed_share": 0.0})
    plain = scenario.model_copy(update={"optical": optical})  # the run itself has a certificate
    run = simulate(plain, ALL_WIRED, REFERENCE_ITERATIONS, seed, {}, stop=go_on, detailed=False)
    return mean_costs(run.events)


def checked_references(
    scenario: Scenario, seed: int, iterations: int, step: Step | None = None
) -> References:
    """The reference costs of a run that can be simulated."""
    Session(scenario, seed, iterations)  # refuse what cannot run before simulating
    return reference_costs(scenario, seed, step)


def simulate(
    scenario: ScenarioLike,
    policy: str | Policy | PolicyFactory = "thz-sync",
    iterations: int = 20,
    seed: int = 0,
    references: References | None = None,
    progress: Tell | None = None,
    keep_partial: bool = False,
    journal: Journal | None = None,
    stop: Stop | None = None,
    detailed: bool = True,
) -> Run:
    """Run a policy for some training iterations of a scenario, preset or file; return the record.

    ``policy`` is a name, a class or function that makes a policy, or a policy, which then learns.
    With ``keep_partial``, Ctrl-C ends the run early and finished iterations are returned; so does
    ``stop``, which is called before every decision. A ``journal`` receives finished iterations at
    once. Without ``detailed``, only iterations and events are recorded; such a run cannot be
    audited but takes less time and memory. Warns if a run in flow fidelity exceeds its tolerance.
    """
    setting = Scenario.of(scenario)
    if references is None:
        references = checked_references(setting, seed, iterations)
    chosen: Policy = policy if is_policy(policy) else make_policy(policy, setting, Streams(seed))
    session = Session(own_scenario(chosen, setting), seed, iterations, references, detailed)
    drive = _Drive(session, Driver(chosen), progress, journal, stop)
    run = drive.record(keep_partial, knowledge_of(chosen))
    warn_beyond(run.certificate)
    return run


def resume(
    journal: Journal,
    progress: Tell | None = None,
    stop: Stop | None = None,
    step: Step | None = None,
) -> tuple[Run, Policy]:
    """Continue an interrupted run; return the record and the policy that it would have left.

    ``step`` is called before every decision that is repeated, ``stop`` before every new one.
    """
    spec = journal.spec
    session = Session(spec.scenario, spec.seed, spec.iterations, spec.references)
    driver, waiting = replay(
        journal, session, lambda: _report(session, progress), step or (lambda: None)
    )
    knowledge = knowledge_of(first_policy(spec))  # the driver's policy has learnt since
    drive = _Drive(session, driver, progress, journal, stop, waiting, journal.parts)
    run = drive.record(True, knowledge)
    warn_beyond(run.certificate)
    return run, driver.policy


def first_policy(spec: RunSpec) -> Policy:
    """The policy with which a run begins."""
    scenario, streams = spec.scenario, Streams(spec.seed)
    if spec.start is None:
        return make_policy(spec.policy, scenario, streams)
    return load_policy(spec.start, scenario, streams, spec.frozen, spec.policy)


def restored_policy(journal: Journal) -> Policy | None:
    """The policy at the interruption; None if it cannot be saved and has to decide again."""
    file, spec = journal.saved_policy(), journal.spec
    if file is None:
        return None
    return load_policy(file, spec.scenario, Streams(spec.seed), spec.frozen, spec.policy)


def replay(
    journal: Journal, session: Session, tell: Callable[[], object], step: Callable[[], object]
) -> tuple[Driver, Situation | None]:
    """Repeat the decisions before the interruption; the driver, and the next situation."""
    with journal.reading():
        restored = restored_policy(journal)
        driver = Driver(restored or first_policy(journal.spec))
        for decision in journal.decisions():
            situation, action = next(session, None), Action(*decision)
            tell()
            step()
            if situation is None:
                raise _differs(journal)
            if restored is not None:
                driver.repeat(session, situation, action)
                continue
            again = driver.answer(session, situation)
            pairs = (again.chunks, action.chunks), (again.power, action.power)
            if not all(np.array_equal(*pair) for pair in pairs):
                raise _differs(journal)
        waiting = next(session, None)
        tell()
        session.new_rows(), driver.new_decisions()  # the journal has them
        if journal.parts:
            recorded, found = journal.run().tables, session.record(journal.spec.policy).tables
            if any(not found[name].equals(table) for name, table in recorded.items()):
                raise _differs(journal)
        return driver, waiting


def _differs(journal: Journal) -> ThzSyncError:
    return ThzSyncError(
        f"{journal.folder.parent}: this installation computes other numbers than the one that "
        "began the run; record it anew"
    )


def _report(session: Session, progress: Tell | None) -> int:
    """Report the iterations that have ended since the last call; their number."""
    finished = session.finished()
    if progress is not None:
        for ended in finished:
            progress(ended)
    return len(finished)


@dataclass
class _Drive:
    """A run in progress: the session, its driver, and who is informed."""

    session: Session
    driver: Driver
    progress: Tell | None
    journal: Journal | None
    stop: Stop | None
    waiting: Situation | None = None
    done: int = 0

    def record(self, keep_partial: bool, knowledge: str) -> Run:
        """Run to the end, or until stopped; return everything that is finished."""
        try:
            self._run()
        except BaseException as error:
            self.done += _report(self.session, self.progress)
            if not (keep_partial and self.done and interrupted(error)):
                raise
        run = self.session.record(self.driver.policy.name)
        return refuse_not_finite(replace(run, learning=knowledge))

    def _run(self) -> None:
        first = () if self.waiting is None else (self.waiting,)
        for situation in chain(first, self.session):
            self._ended()
            if self.stop is not None and self.stop():
                if not self.done:
                    raise KeyboardInterrupt
                return
            self.driver.answer(self.session, situation)
        self._ended()
        self.driver.learn(self.session)

    def _ended(self) -> None:
        ended = _report(self.session, self.progress)
        self.done += ended
        if ended and self.journal is not None:
            # the policy is saved before it learns from the last outcomes
            policy, journal = self.driver.policy, self.journal
            if isinstance(policy, LearningPolicy):
                save_policy(policy, journal.policy_file(journal.parts), journal.spec.scenario)
            journal.add(self.session.new_rows(), self.driver.new_decisions())
