"""Going on with a run where it was cut.

A cut lies before a decision. The decisions up to it are carried out again without asking anybody;
then the policy is what it was, and the outcomes that it had not been told are still to come. So the
rest is the same to the bit as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thzsync.coordinator import Action, Policy, Situation, make_policy
from thzsync.coordinator.saved import load_policy
from thzsync.errors import ThzSyncError
from thzsync.records.journal import Journal, RunSpec
from thzsync.records.parts import Decision
from thzsync.simulation.session import Driver, Session
from thzsync.streams import Streams


def first_policy(spec: RunSpec) -> Policy:
    """The policy with which a run begins."""
    scenario, streams = spec.scenario, Streams(spec.seed)
    if spec.start is None:
        return make_policy(spec.policy, scenario, streams)
    return load_policy(spec.start, scenario, streams, frozen=spec.frozen, expected=spec.policy)


def policy_at_cut(journal: Journal) -> Policy | None:
    """The policy as it was; None if it cannot be saved and has to decide anew."""
    file, spec = journal.saved_policy(), journal.spec
    if file is None:
        return None
    streams = Streams(spec.seed)
    return load_policy(file, spec.scenario, streams, frozen=spec.frozen, midway=True)


def replay(
    journal: Journal, session: Session, tell: Callable[[], None], step: Callable[[], object]
) -> tuple[Driver, Situation | None]:
    """Carry out what was decided before the cut; who decides on, and the situation to decide."""
    with journal.reading():
        return _replay(journal, session, tell, step)


def _replay(
    journal: Journal, session: Session, tell: Callable[[], None], step: Callable[[], object]
) -> tuple[Driver, Situation | None]:
    restored = policy_at_cut(journal)
    driver = Driver(restored or first_policy(journal.spec))
    for decision in journal.decisions():
        situation = next(session, None)
        if situation is None:
            raise _differs(journal)
        tell()
        step()
        _repeat(journal, driver, session, situation, decision, asking=restored is None)
    waiting = next(session, None)
    tell()
    session.new_rows(), driver.new_decisions()  # the journal has them
    _check_rows(journal, session)
    return driver, waiting


def _repeat(
    journal: Journal,
    driver: Driver,
    session: Session,
    situation: Situation,
    decision: Decision,
    asking: bool,
) -> None:
    action = Action(*decision)
    if not asking:
        driver.repeat(session, situation, action)
        return
    again = driver.answer(session, situation)
    same = np.array_equal(again.thz_chunks, action.thz_chunks)
    if not (same and np.array_equal(again.power, action.power)):
        raise _differs(journal)


def _check_rows(journal: Journal, session: Session) -> None:
    """What was simulated again must be what was recorded."""
    if not journal.parts:
        return
    told, found = journal.run(), session.record(journal.spec.policy)
    if any(not found.tables[name].equals(table) for name, table in told.tables.items()):
        raise _differs(journal)


def _differs(journal: Journal) -> ThzSyncError:
    return ThzSyncError(
        f"{journal.folder.parent}: this installation computes other numbers than the one that "
        "began the run; record it anew"
    )
