"""A baseline runs on the best structure its fabric has, beside the paper's weaker version."""

from __future__ import annotations

import polars as pl

from thzsync.coordinator import make_policy, own_scenario
from thzsync.names import BEST_OF
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.streams import Streams

TINY = Scenario.preset("tiny")


def test_a_best_baseline_brings_its_structures_and_changes_nothing_else() -> None:
    for plain, best in BEST_OF.items():
        policy = make_policy(best, TINY, Streams(0))
        own = own_scenario(policy, TINY)
        assert own.collectives != TINY.collectives
        assert own.model_copy(update={"collectives": TINY.collectives}) == TINY
        assert own_scenario(policy, own) == own
        assert own_scenario(make_policy(plain, TINY, Streams(0)), TINY) is TINY


def test_a_policy_may_bring_a_method_for_any_collective() -> None:
    class Brings:
        methods = (("all-gather", "proposed"), ("a2a", "sustained"))

    own = own_scenario(Brings(), TINY)  # type: ignore[arg-type]
    assert own.collectives.method("all-gather") == "proposed"
    assert own.collectives.method("a2a") == "sustained"
    assert own.collectives.method("p2p") == TINY.collectives.method("p2p")


def test_all_wired_at_its_best_does_not_know_how_many_subbands_there_are() -> None:
    references = {"p2p": (1.0, 1.0), "a2a": (1.0, 1.0), "allreduce": (1.0, 1.0)}
    few, many = (
        simulate(TINY.with_({"thz.subbands": n}), "all-wired-best", 1, references=references)
        for n in (2, 4)
    )
    assert few.policy == "all-wired-best"
    assert few.events["completion_ms"].equals(many.events["completion_ms"])
    assert set(few.events.filter(pl.col("kind") == "allreduce")["method"]) == {"ring"}


def test_rewards_keep_the_papers_reference() -> None:
    best, plain = (simulate(TINY, policy, 1) for policy in ("all-wired-best", "all-wired"))
    assert best.references == plain.references
