"""The joint engine: closed forms, pairing, and a clean audit of whatever it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.scenarios import scenarios
from thzsync.auditor import audit
from thzsync.channel import ChannelModel
from thzsync.coordinator import Action, Situation
from thzsync.coordinator.static import ALL_WIRED, ALL_WIRELESS, FIXED_RATIO
from thzsync.errors import ThzSyncError
from thzsync.execution import carrier
from thzsync.execution.alone import run_collective
from thzsync.experiments import runs
from thzsync.experiments.compare import Comparison, compare
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.scenario.files import build_scenario
from thzsync.simulation import Run, simulate
from thzsync.streams import Streams
from thzsync.synthesis import find_method
from thzsync.testing.floors import RandomPolicy
from thzsync.topology import Topology
from thzsync.wireless import Overlay
from thzsync.workload import job_graph

MIB = 2**20


@pytest.fixture(scope="module")
def tiny() -> Scenario:
    return Scenario.preset("tiny")


def test_all_wired_energy_of_the_paper_is_the_closed_form() -> None:
    """40 pJ/bit/hop over 3 hops of P2P and 2 hops of A2A and of 4 trees with 7 edges each."""
    run = simulate(Scenario.paper(), "all-wired", 1, references={})
    byte_hops = 48 * 8 * 16 * MIB * 3 + 32 * 8 * 12 * MIB * 2 + 16 * (4 * 7 * 2) * 32 * MIB * 2
    expected_j = 40e-12 * 8 * byte_hops
    assert run.summary["energy_j"] == pytest.approx(expected_j, rel=1e-12)
    assert f"{run.summary['energy_j']:.2f}" == "27.49"
    assert run.summary["thz_share"] == 0


def test_all_wired_scores_minus_one_against_itself(tiny: Scenario) -> None:
    run = simulate(tiny, "all-wired", 3)
    assert run.summary["reward"] == pytest.approx(-1, abs=1e-12)


def test_every_byte_takes_the_fabric_that_was_decided(tiny: Scenario) -> None:
    wired = simulate(tiny, ALL_WIRED, 1, references={}).iterations
    wireless = simulate(tiny, ALL_WIRELESS, 1, references={}).iterations
    assert wired["thz_share"].item() == 0
    assert wired["thz_energy_j"].item() == 0
    assert wireless["thz_share"].item() == 1
    assert wireless["optical_energy_j"].item() == 0


def test_stragglers_are_the_same_for_every_policy(tiny: Scenario) -> None:
    key = ["iteration", "node"]
    delays = [
        simulate(tiny, policy, 2, references={}).events.sort(key).select(*key, "delay_ps")
        for policy in (ALL_WIRED, ALL_WIRELESS, FIXED_RATIO)
    ]
    assert delays[0].equals(delays[1])
    assert delays[0].equals(delays[2])
    assert any(any(row) for row in delays[0]["delay_ps"].to_list())


def test_without_communication_cost_the_makespan_is_the_critical_path(tiny: Scenario) -> None:
    """Events of one byte at huge rates leave only compute."""
    fast = build_scenario(
        {
            "floor": {"rings": 3, "slots_per_ring": 2},
            "optical": {"access_bps": 9e14, "inter_bps": 9e14, "switch_delay_s": 0},
            "jobs": [
                {
                    "training": {
                        "microbatches": 4,
                        "p2p_bytes": 1,
                        "a2a_bytes_per_rack": 1,
                        "moe_stages": [1],
                        "allreduce_bytes": 2,
                        "allreduce_buckets": 1,
                        "forward_s": 0.01,
                        "backward_s": 0.02,
                    }
                }
            ],
        },
        "test",
    )
    run = simulate(fast, "all-wired", 1, references={})
    expected_ms = (4 + 3 - 1) * 30  # (m + pp - 1) (f + b)
    assert run.summary["makespan_ms"] == pytest.approx(expected_ms, rel=1e-6)
    assert run.summary["bubble"] == pytest.approx((3 - 1) / (4 + 3 - 1), rel=1e-6)
    assert run.summary["exposed_ms"] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("kind", ["a2a", "allreduce"])
@pytest.mark.parametrize("late_s", [0.0, 0.004])
def test_one_event_alone_on_thz_takes_what_the_standalone_executor_says(
    kind: str, late_s: float
) -> None:
    """One executor, with and without a fibre beside it, must agree with itself."""
    a2a = kind == "a2a"
    training = {
        "microbatches": 1,
        "moe_stages": [0] if a2a else [],
        "a2a_bytes_per_rack": 12 * MIB,
        "allreduce_buckets": 0 if a2a else 1,
        "allreduce_bytes": 32 * MIB,
    }
    slow = {"slow_racks": [{"rack": 3, "delay_s": late_s}]} if late_s else {}
    floor = {"rings": 1, "slots_per_ring": 8}
    raw = {"floor": floor, "stragglers": slow, "jobs": [{"training": training}]}
    scenario = build_scenario(raw, "test")
    run = simulate(scenario, "all-wireless", 1, seed=5, references={})
    topology = Topology(scenario.floor)
    streams = Streams(5)
    graph = job_graph(scenario.jobs[0], topology, streams, 0)
    channel = ChannelModel.build(scenario.channel, scenario.thz, topology, streams)
    event = next(e for e in graph.events if e.kind == kind)
    method = find_method(kind, "proposed")
    release_s = np.where(np.arange(8) == 3, late_s, 0.0)
    alone = run_collective(
        event.demand, event.racks, method, scenario, topology, channel, release_s
    )
    assert run.events["completion_ms"][0] == pytest.approx(alone.completion_ps * 1e-9, rel=1e-12)


def test_a_late_rack_counts_in_the_completion_time() -> None:
    """T_e starts at the nominal release, so one slow sender adds exactly its delay."""
    base = {
        "floor": {"rings": 2, "slots_per_ring": 1},
        "jobs": [
            {"training": {"microbatches": 1, "p2p_bytes": MIB, "moe_stages": [],
                          "allreduce_buckets": 0}}
        ],
    }  # fmt: skip
    slow = {**base, "stragglers": {"slow_racks": [{"rack": 0, "delay_s": 0.005}]}}
    punctual, late = (
        simulate(build_scenario(raw, "test"), "all-wired", 1, references={}).events
        for raw in (base, slow)
    )
    difference = late["completion_ms"] - punctual["completion_ms"]
    assert difference.to_list() == pytest.approx([5.0, 0.0], abs=1e-9)  # forward is sent by rack 0


@given(scenario=scenarios(), seed=st.integers(0, 2**31))
def test_any_policy_on_any_scenario_runs_to_completion_with_a_clean_audit(
    scenario: Scenario, seed: int
) -> None:
    policy = RandomPolicy(seed)
    run = simulate(scenario, policy, 2, seed, references={"p2p": (1, 1)})
    assert run.iterations.height == 2 * len(scenario.jobs)
    assert len(policy.outcomes) == run.events.height
    report = audit(run)
    assert report.violations == []
    assert run.events.height == 0 or sum(report.checks.values()) > 0


@given(
    scenario=scenarios(),
    p2p=st.sampled_from(["proposed", "striped"]),
    slow_channel=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_trains_of_chunks_change_no_event(
    scenario: Scenario, p2p: str, slow_channel: bool, seed: int
) -> None:
    """Sending chunks one by one gives every event the same end and the same energy."""
    changes: dict[str, object] = {"collectives.p2p": p2p}
    if slow_channel:  # trains end with the chunks instead of with the channel's slot
        changes["channel.coherence_s"] = 10.0
    scenario = changed(scenario, changes, "test")
    costs = []
    for wanted in ({"trains": False}, {"trains": True}, {"trains": True, "lookahead": True}):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(carrier, "Overlay", _overlay_with(**wanted))
            run = simulate(scenario, RandomPolicy(seed), 1, seed, references={})
        costs.append(run.events.select("number", "end_ps", "thz_energy_j"))
    single = costs.pop(0)
    for found in costs:
        assert found["end_ps"].to_list() == single["end_ps"].to_list()
        assert found["thz_energy_j"].to_list() == pytest.approx(single["thz_energy_j"].to_list())


def _overlay_with(**wanted: bool) -> Callable[..., Overlay]:
    """Makes overlays of this kind, whatever a run asks for."""
    return lambda *args, **asked: Overlay(*args, **asked | wanted)


def test_two_jobs_slow_each_other_on_the_shared_switch() -> None:
    """Both partitions cross the same inter-switch fibre, so together they take longer."""
    training = {"microbatches": 2, "p2p_bytes": 8 * MIB, "moe_stages": [], "allreduce_buckets": 0}
    floor = {"rings": 2, "slots_per_ring": 4}
    one = {"name": "a", "first_lane": 0, "lanes": 2, "training": training}
    two = {"name": "b", "first_lane": 2, "lanes": 2, "training": training}
    alone = simulate(build_scenario({"floor": floor, "jobs": [one]}, "t"), "all-wired", 1)
    both = simulate(build_scenario({"floor": floor, "jobs": [one, two]}, "t"), "all-wired", 1)
    mine = both.events.filter(pl.col("job") == "a")
    assert mine["completion_ms"].sum() > 1.5 * alone.events["completion_ms"].sum()


class _Overdrawn:
    name = "overdrawn"

    def decide(self, situation: Situation) -> Action:
        return Action(situation.offer.chunks + 1, np.ones(len(situation.offer.racks)))

    def learn(self, *_: object) -> None: ...


class _Loud:
    name = "loud"

    def decide(self, situation: Situation) -> Action:
        return Action(situation.offer.chunks * 0, np.ones(len(situation.offer.racks)))

    def learn(self, *_: object) -> None: ...


@pytest.mark.parametrize(("policy", "words"), [(_Overdrawn(), "THz chunks"), (_Loud(), "rack 0")])
def test_an_impossible_action_is_refused(tiny: Scenario, policy: object, words: str) -> None:
    with pytest.raises(ThzSyncError, match=words):
        simulate(tiny, policy, 1, references={})  # type: ignore[arg-type]


def test_an_interrupted_run_keeps_what_it_finished(tiny: Scenario) -> None:
    class Impatient:
        name = "impatient"
        events = 0

        def decide(self, situation: Situation) -> Action:
            Impatient.events += 1
            if Impatient.events > 20:
                raise KeyboardInterrupt
            return ALL_WIRED.decide(situation)

        def learn(self, *_: object) -> None: ...

    run = simulate(tiny, Impatient(), 5, references={}, keep_partial=True)
    assert run.iterations["iteration"].to_list() == [0]
    assert run.events["iteration"].unique().to_list() == [0]
    assert audit(run).violations == []


def test_long_compute_is_not_taken_for_a_stall() -> None:
    """Longer than the stall limit, but sure to end: compute, and a rack that thaws."""
    training = {"microbatches": 1, "moe_stages": [], "allreduce_buckets": 0, "forward_s": 25.0}
    frozen = {"kind": "compute-frozen", "start_s": 24, "end_s": 60, "rack": 0}
    raw = {
        "floor": {"rings": 2, "slots_per_ring": 1},
        "jobs": [{"training": training}],
        "faults": [frozen],
    }
    run = simulate(build_scenario(raw, "test"), "all-wired", 1, references={})
    assert run.summary["makespan_ms"] > 60_000


def test_a_comparison_is_never_made_of_interrupted_runs(
    tiny: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    rescued: list[Comparison] = []
    real = runs.simulate

    def impatient(*task: object, **options: bool) -> Run:
        if task[3] == 1:  # the second seed
            raise KeyboardInterrupt
        return real(*task, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "simulate", impatient)
    with pytest.raises(KeyboardInterrupt):
        compare(tiny, ("all-wired", "fixed-ratio"), 3, 2, workers=1, rescue=rescued.append)
    assert [c.seeds for c in rescued] == [(0,)]
    assert rescued[0].iterations.height == 4


def test_a_run_survives_a_trip_to_disk(tiny: Scenario, tmp_path) -> None:
    run = simulate(tiny, FIXED_RATIO, 2)
    back = Run.load(run.save(tmp_path / "run"))
    assert back.scenario == run.scenario
    assert back.references == run.references
    for name, frame in run.tables.items():
        assert frame.equals(back.tables[name]), name


def test_the_last_iteration_alone_audits_clean(tiny: Scenario) -> None:
    cut = simulate(tiny, FIXED_RATIO, 3).last_iteration()
    assert cut.iterations["iteration"].to_list() == [2]
    assert audit(cut).violations == []
