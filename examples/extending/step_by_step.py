"""A policy as a plain loop: situations come out of a session, actions go in."""

from __future__ import annotations

from thzsync import Scenario, Session, audit
from thzsync.coordinator import Action
from thzsync.simulation import reference_costs

scenario = Scenario.preset("tiny")
session = Session(scenario, seed=0, iterations=2, references=reference_costs(scenario, seed=0))
taken: dict[int, tuple[str, float]] = {}  # by decision
best: dict[str, tuple[float, float]] = {}  # by collective: reward and share
shares = (0.25, 0.5, 0.75)

for situation in session:
    for outcome in session.outcomes():
        kind, share = taken.pop(outcome.decision)
        best[kind] = max(best.get(kind, (-99.0, 0.0)), (outcome.reward, share))
    _, known = best.get(situation.kind, (0.0, 0.5))
    share = shares[situation.decision % 3] if situation.decision < 12 else known
    taken[situation.decision] = (situation.kind, share)
    session.send(Action.uniform(situation.offer, share, power=1.0))

run = session.record("by hand")
assert not audit(run).violations
print(run.iterations.select("iteration", "completion_ms", "energy_j", "reward"))
