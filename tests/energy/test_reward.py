"""The energy that a reward counts: in rewards, references, estimates and their keys."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.energy.settings import tiny
from thzsync.coordinator import Action
from thzsync.coordinator.estimate import estimate
from thzsync.experiments.references import reference_key
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.results import COUNTED
from thzsync.simulation.session import Session
from thzsync.simulation.simulator import reference_costs

KINDS = tuple(COUNTED)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reward_counts_energy_of_its_kind(kind: str) -> None:
    scenario = tiny({"reward.energy": kind})
    run = simulate(scenario, "all-wired", iterations=3, seed=2)
    event = run.events.row(-1, named=True)
    time_s, energy_j = run.references[event["kind"]]
    spent_j = sum(event[column] for column in COUNTED[kind])
    cost = 0.7 * event["completion_ms"] * 1e-3 / time_s + 0.3 * spent_j / energy_j
    assert event["reward"] == pytest.approx(-cost)
    # references are those of the same three iterations: a mean cost of 1
    by_kind = run.events.group_by("kind").agg(pl.col("reward").mean())["reward"]
    assert by_kind.to_list() == pytest.approx([-1.0] * len(by_kind))


def test_references_are_kept_apart_by_what_they_count() -> None:
    keys = {reference_key(tiny({"reward.energy": kind}), 0) for kind in KINDS}
    assert len(keys) == len(KINDS)
    other = {"energy.fibre.idle_w_per_port": 5.0}
    assert reference_key(tiny(other), 0) == reference_key(tiny(), 0)  # transmission ignores it
    counted = {"reward.energy": "with-static"}
    assert reference_key(tiny(counted | other), 0) != reference_key(tiny(counted), 0)


def costs(scenario: Scenario, policy: str) -> tuple[np.ndarray, pl.DataFrame]:
    """Estimates of events that are wholly on one carrier, and what they took."""
    session, found = Session(scenario, 3, 1, {}), []
    share = 0.0 if policy == "all-wired" else 1.0
    for situation in session:
        counts = np.rint(situation.offer.chunks * share).astype(np.int64)[None]
        full = np.array([len(situation.power_levels) - 1])
        found.append(estimate(situation).candidate(counts, full).energy_j[0])
        session.send(Action.uniform(situation.offer, share, share))
    return np.array(found), session.record(policy).events.sort("number")


@pytest.mark.parametrize("kind", ["transmission", "wall-plug"])
def test_estimates_of_wired_events_are_exact(kind: str) -> None:
    estimated, events = costs(tiny({"reward.energy": kind}), "all-wired")
    taken = sum(events[column].to_numpy() for column in COUNTED[kind])
    assert estimated.tolist() == pytest.approx(taken.tolist())


def test_estimates_of_wired_events_count_modules_that_are_awake() -> None:
    """What a second costs in any case is in the price of time, the rest in the estimate."""
    scenario = tiny({"reward.energy": "with-static"})
    estimated, events = costs(scenario, "all-wired")
    racks = events["racks"].list.len().to_numpy() / scenario.floor.racks
    time_s = events["completion_ms"].to_numpy() * 1e-3
    modules = 2 * (scenario.floor.racks + 1)
    always_w = 0.5 * 4.0 * modules + 2 * 60.0 + 0.75 * 0.1 * 4 * scenario.floor.racks
    always_w += 1000.0 * scenario.floor.racks
    taken = sum(events[column].to_numpy() for column in COUNTED["with-static"])
    assert (estimated + racks * time_s * always_w).tolist() == pytest.approx(taken.tolist())


def test_a_second_costs_the_static_power_of_the_events_racks() -> None:
    prices = {}
    for kind in KINDS:
        scenario = tiny({"reward.energy": kind})
        references = {"p2p": (2.0, 4.0), "a2a": (2.0, 4.0), "allreduce": (2.0, 4.0)}
        situation = next(Session(scenario, 0, 1, references))
        assert situation.terms is not None
        prices[kind] = situation.terms.per_s, situation.terms.per_j
    racks, share = len(situation.offer.racks), len(situation.offer.racks) / scenario.floor.racks
    always_w = share * (0.5 * 4.0 * 2 * (scenario.floor.racks + 1) + 2 * 60.0)
    always_w += racks * (1000.0 + 0.75 * 4 * 0.1)
    assert prices["transmission"] == prices["wall-plug"] == pytest.approx((0.7 / 2, 0.3 / 4))
    assert prices["with-static"] == pytest.approx((0.7 / 2 + 0.3 / 4 * always_w, 0.3 / 4))


def test_references_by_hand() -> None:
    """The mean of All-Wired's events of a type, in the kind that is counted."""
    scenario = tiny({"reward.energy": "wall-plug"})
    events = simulate(scenario, "all-wired", iterations=3, seed=4, references={}).events
    a2a = events.filter(pl.col("kind") == "a2a")
    assert reference_costs(scenario, 4)["a2a"][1] == pytest.approx(a2a["optical_wall_j"].mean())
