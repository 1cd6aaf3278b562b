"""Property 1: a method lowers only what has been decided, exactly once, and by that decision."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from thzsync.arrays import IntArray
from thzsync.collectives import Demand
from thzsync.coordinator import Action
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.simulation import Session
from thzsync.synthesis import Method, Offer, Setting, find_method, register_method
from thzsync.testing.floors import RandomPolicy
from thzsync.transfers import TransferGraph

KINDS = ("p2p", "a2a", "allreduce")


@dataclass(frozen=True)
class Watched:
    """The paper's method, with a list of the splits that were lowered."""

    inner: Method
    lowered: list[IntArray] = field(default_factory=list)
    name: str = "watched"
    summary: str = ""

    @property
    def collective(self) -> str:
        return self.inner.collective

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        offer = self.inner.offer(demand, racks, chunk_bytes, setting)

        def lower(thz_chunks: IntArray) -> TransferGraph:
            self.lowered.append(thz_chunks.copy())
            return offer.lower(thz_chunks)

        return replace(offer, lower=lower)


@pytest.fixture
def watched() -> tuple[Scenario, dict[str, Watched]]:
    methods = {kind: Watched(find_method(kind, "proposed")) for kind in KINDS}
    for method in methods.values():
        register_method(method)
    raw = {"preset": "tiny", "collectives": dict.fromkeys(KINDS, "watched")}
    return build_scenario(raw, "test"), methods


Scene = tuple[Scenario, dict[str, Watched]]


def test_every_event_is_lowered_once_after_its_action_and_by_it(watched: Scene) -> None:
    scenario, methods = watched
    session, policy = Session(scenario, seed=1, iterations=2), RandomPolicy(1)
    decided = 0
    for situation in session:
        lowered = methods[situation.kind].lowered
        before = sum(len(m.lowered) for m in methods.values())
        assert before == decided  # describing a situation lowers nothing
        action = policy.decide(situation)
        session.send(action)
        decided += 1
        assert sum(len(m.lowered) for m in methods.values()) == decided
        np.testing.assert_array_equal(lowered[-1], action.thz_chunks)
    assert decided == session.record("by hand").events.height


def test_an_action_that_is_refused_lowers_nothing(watched: Scene) -> None:
    scenario, methods = watched
    session = Session(scenario)
    situation = next(session)
    with pytest.raises(ThzSyncError, match="THz chunks"):
        session.send(Action.of(situation.offer, situation.offer.chunks + 1, np.ones(6)))
    assert not any(method.lowered for method in methods.values())
    session.send(Action.uniform(situation.offer, 0.5, 1.0))  # it may be decided still
    assert len(methods[situation.kind].lowered) == 1


def test_the_record_holds_the_split_that_was_decided(watched: Scene) -> None:
    scenario, _ = watched
    session, policy, counts = Session(scenario, seed=2), RandomPolicy(2), []
    for situation in session:
        action = policy.decide(situation)
        session.send(action)
        counts.append(action.thz_chunks.tolist())
    flows = session.record("by hand").flows.sort("number", "flow")
    recorded = flows.group_by("number", maintain_order=True).agg("thz_chunks")
    assert recorded["thz_chunks"].to_list() == counts
