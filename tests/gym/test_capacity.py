"""Spaces are as large as the largest event, or somebody has to say how large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.gym.episodes import REFERENCES, play, random_agent
from thzsync import ThzSyncError
from thzsync.coordinator import Action
from thzsync.gym import CollectivesEnv
from thzsync.gym.capacity import Capacity, capacity_of
from thzsync.scenario import Scenario
from thzsync.simulation import Session
from thzsync.workload import Compute, Phase, TrainingGraph
from thzsync.workload.tracefile import Trace, write_trace

KINDS = ("p2p", "a2a", "allreduce")


@pytest.mark.parametrize(
    ("preset", "capacity"),
    [
        # P2P: a flow per lane. All-to-All: one per pair. AllReduce: two per tree and rack but one.
        ("tiny", Capacity(3 * 2 * 2, 3, KINDS)),
        ("paper", Capacity(8 * 7, 8, KINDS)),
        ("pod-1024", Capacity(32 * 31, 32, KINDS)),
    ],
)
def test_the_largest_event_follows_from_the_scenario(preset: str, capacity: Capacity) -> None:
    assert capacity_of(Scenario.preset(preset)) == capacity


@pytest.mark.parametrize("preset", ["tiny", "paper"])
def test_a_run_fills_the_room(preset: str) -> None:
    capacity, session = capacity_of(Scenario.preset(preset)), Session(preset, detailed=False)
    units = senders = 0
    for situation in session:
        offer = situation.offer
        units, senders = max(units, offer.units), max(senders, offer.groups)
        session.send(Action.uniform(offer, 0.5, 1.0))
    assert (units, senders) == (capacity.units, capacity.senders)


def test_pairs_that_have_no_bytes_this_time_have_room() -> None:
    training = {"a2a_bytes_per_rack": 1, "a2a_skew": 2.0, "moe_stages": [0], "allreduce_bytes": 1}
    skewed = Scenario.preset("tiny").with_({"jobs": [{"name": "train", "training": training}]})
    session, units = Session(skewed, seed=0), set()
    for situation in session:
        units |= {situation.units} if situation.kind == "a2a" else set()
        session.send(Action.uniform(situation.offer, 0.5, 1.0))
    assert max(units) < 3 * 2
    assert capacity_of(skewed).units == 3 * 2


def test_a_method_whose_units_vary_needs_to_be_told() -> None:
    streamed = Scenario.paper().with_({"collectives.allreduce": "streamed"})
    with pytest.raises(ThzSyncError, match=r"^allreduce method 'streamed': .*max_units="):
        CollectivesEnv(streamed)
    assert capacity_of(streamed, max_units=300) == Capacity(300, 16, KINDS)


def test_an_event_that_does_not_fit_names_the_remedy() -> None:
    env = CollectivesEnv("tiny", max_units=5, references=REFERENCES)
    with pytest.raises(ThzSyncError, match=r"decision \d+: a2a .*\b6\b.* max_units=6"):
        play(env, random_agent(env, 0), seed=0)


def test_more_room_than_needed_changes_nothing() -> None:
    rewards = []
    for capacity in (None, 40):
        env = CollectivesEnv("tiny", max_units=capacity, references=REFERENCES)
        wired = np.zeros(env.action_space.shape, dtype=np.int64)
        rewards.append(play(env, lambda _, w=wired: w, seed=0).rewards)
    assert rewards[0] == rewards[1]


def test_a_scenario_without_events_has_nothing_to_decide(tmp_path: Path) -> None:
    racks = np.arange(6)
    task = Compute(id=0, job="train", stage=0, phase=Phase.FORWARD, microbatch=0, racks=racks,
                   duration_s=1e-3, after=())  # fmt: skip
    write_trace(tmp_path / "idle.jsonl.gz", Trace(TrainingGraph((task,)), 6))
    idle = Scenario.preset("tiny").with_(
        {"jobs": [{"name": "train", "trace": str(tmp_path / "idle.jsonl.gz")}]}
    )
    with pytest.raises(ThzSyncError, match="'tiny'"):
        CollectivesEnv(idle)
