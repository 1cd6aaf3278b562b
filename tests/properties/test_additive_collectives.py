"""Property 6: collectives are additive; one that nobody uses changes no number."""

from __future__ import annotations

import pytest

from thzsync.arrays import IntArray
from thzsync.collectives import (
    Blocks,
    Collective,
    Demand,
    Tensor,
    collective_names,
    register_collective,
)
from thzsync.coordinator.learning import model_stream
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.synthesis import FlowMethod, method_names, register_method
from thzsync.synthesis.rings import Ring

LEARNERS = ("thz-sync", "shared-bandit", "ddqn")


def to_everybody(demand: Demand, racks: IntArray) -> Blocks:
    return Blocks.of([(demand.payload_bytes, racks, racks)])


def register(name: str) -> None:
    """A collective like AllReduce under another name, with a method."""
    register_collective(Collective(name, name.title(), Tensor, to_everybody))
    register_method(FlowMethod(name, "ring", Ring(), "assignment"))


def run_of(policy: str) -> Run:
    return simulate(Scenario.preset("tiny"), policy, 2, seed=3)


@pytest.mark.parametrize("policy", ["fixed-ratio", *LEARNERS])
def test_a_registered_collective_changes_no_number_of_a_run_without_it(policy: str) -> None:
    before = run_of(policy)
    for name in ("aardvark", "zebra"):  # before and after all others, however they are sorted
        register(name)
        assert name in collective_names()
        assert list(method_names(name)) == ["ring"]
    after = run_of(policy)
    assert before.references == after.references
    for name, frame in before.tables.items():
        assert frame.equals(after.tables[name]), name


def test_a_models_draws_are_keyed_by_its_name_alone() -> None:
    known = [*collective_names(), *LEARNERS]
    before = {name: model_stream(name) for name in known}
    register("zebra")
    assert {name: model_stream(name) for name in known} == before
    assert len({*before.values(), model_stream("zebra")}) == len(before) + 1
