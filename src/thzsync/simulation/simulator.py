"""The front door: one policy, one seed, some iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from thzsync.coordinator import Policy, Situation, make_policy, own_scenario
from thzsync.coordinator.saved import LearningPolicy, knowledge_of
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import interrupted
from thzsync.records import References, Run
from thzsync.records.certificate import warn_beyond
from thzsync.records.journal import Journal
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation.metrics import Progress
from thzsync.simulation.resuming import first_policy, replay
from thzsync.simulation.sanity import refuse_not_finite
from thzsync.simulation.session import Driver, Session
from thzsync.streams import Streams

if TYPE_CHECKING:
    import polars as pl

Tell = Callable[[Progress], None]
"""Is told of every iteration that has ended."""
Step = Callable[[], object]
"""Is called before every decision, for whoever counts them."""
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
    plain = scenario.model_copy(update={"optical": optical})  # the run itself is certified
    run = simulate(plain, ALL_WIRED, REFERENCE_ITERATIONS, seed, {}, stop=go_on, detailed=False)
    return mean_costs(run.events)


def mean_costs(events: pl.DataFrame) -> References:
    """Mean completion time [s] and energy [J] per collective type."""
    import polars as pl

    grouped = events.group_by("kind", maintain_order=True).agg(
        (pl.col("completion_ms") * 1e-3).mean().alias("time"),
        (pl.col("optical_energy_j") + pl.col("thz_energy_j")).mean().alias("energy"),
    )
    return {kind: (time, energy) for kind, time, energy in grouped.iter_rows()}


def checked_references(
    scenario: Scenario, seed: int, iterations: int, step: Step | None = None
) -> References:
    """The reference costs of a run that can be simulated."""
    Session(scenario, seed, iterations)  # refuse what cannot run before working for it
    return reference_costs(scenario, seed, step)


def simulate(
    scenario: ScenarioLike,
    policy: str | Policy = "thz-sync",
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

    With ``keep_partial``, Ctrl-C ends the run early and what was finished is returned; so does
    ``stop``, which is asked before every decision. A ``journal`` gets what is finished as it comes.
    Not ``detailed``, only iterations and events are recorded, which cannot be audited but take
    less time and memory. Warns if a run in flow fidelity is beyond its tolerance.
    """
    setting = Scenario.of(scenario)
    if references is None:
        references = checked_references(setting, seed, iterations)
    chosen = make_policy(policy, setting, Streams(seed)) if isinstance(policy, str) else policy
    session = Session(own_scenario(chosen, setting), seed, iterations, references, detailed)
    drive = _Drive(session, Driver(chosen), progress, journal, stop)
    run = drive.record(keep_partial)
    warn_beyond(run.certificate)
    return run


def resume(
    journal: Journal,
    progress: Tell | None = None,
    stop: Stop | None = None,
    step: Step | None = None,
) -> tuple[Run, Policy]:
    """Go on with an interrupted run; the record and the policy that it would have left.

    ``step`` is called before every decision that is repeated, ``stop`` before every new one.
    """
    begun = journal.spec
    session = Session(begun.scenario, begun.seed, begun.iterations, begun.references)

    def tell() -> None:
        for ended in session.finished():
            if progress is not None:
                progress(ended)

    driver, waiting = replay(journal, session, tell, step or (lambda: None))
    knowledge = knowledge_of(first_policy(begun))  # the driver's has learnt since
    drive = _Drive(session, driver, progress, journal, stop, waiting, knowledge)
    drive.done = journal.parts
    run = drive.record(keep_partial=True)
    warn_beyond(run.certificate)
    return run, driver.policy


class _Drive:
    """A session on its way: who decides, who is told, and where it is written down."""

    def __init__(
        self,
        session: Session,
        driver: Driver,
        progress: Tell | None,
        journal: Journal | None,
        stop: Stop | None,
        waiting: Situation | None = None,
        knowledge: str | None = None,
    ) -> None:
        self.session, self.driver, self.progress = session, driver, progress
        self.journal = journal
        self.stop = stop or (lambda: False)
        self.waiting = waiting
        self.knowledge = knowledge or knowledge_of(driver.policy)
        self.done = 0

    def record(self, keep_partial: bool) -> Run:
        """Go on to the end, or until it is stopped; everything that is finished."""
        try:
            self._run()
        except BaseException as error:
            self._tell()
            if not (keep_partial and self.done and interrupted(error)):
                raise
        run = replace(self.session.record(self.driver.policy.name), learning=self.knowledge)
        return refuse_not_finite(run)

    def _run(self) -> None:
        first = () if self.waiting is None else (self.waiting,)
        for situation in chain(first, self.session):
            self._ended()
            if self.stop():
                if not self.done:
                    raise KeyboardInterrupt
                return
            self.driver.answer(self.session, situation)
        self._ended()
        self.driver.learn(self.session)

    def _ended(self) -> None:
        if self._tell() and self.journal is not None:
            # what is kept of the policy is its state before it learns from the last outcomes
            policy, journal = self.driver.policy, self.journal
            if isinstance(policy, LearningPolicy):
                policy.save(journal.policy_file(journal.parts))
            journal.add(self.session.new_rows(), self.driver.new_decisions())

    def _tell(self) -> bool:
        """Whether iterations have ended since this was last asked."""
        finished = self.session.finished()
        self.done += len(finished)
        for ended in finished:
            if self.progress is not None:
                self.progress(ended)
        return bool(finished)
