"""Scheduled faults: every byte still arrives exactly once, or the run says what cannot."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.scenarios import scenarios
from thzsync.auditor import audit
from thzsync.coordinator.static import ALL_WIRED, ALL_WIRELESS, FIXED_RATIO
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.simulation import Run, simulate
from thzsync.testing.floors import RandomPolicy
from thzsync.topology import Topology

HOUR_S = 3600.0


def tiny_with(*faults: dict[str, Any], **more: Any) -> Scenario:
    quick = {"fallback_timeout_s": 2e-3, **more.pop("thz", {})}
    return build_scenario({"preset": "tiny", "faults": list(faults), "thz": quick, **more}, "test")


def run_clean(scenario: Scenario, policy: Any) -> Run:
    run = simulate(scenario, policy, 1, references={})
    assert audit(run).violations == []
    return run


def spans(run: Run, **equals: int) -> pl.DataFrame:
    return run.tables["transmissions"].filter(*(pl.col(k) == v for k, v in equals.items()))


def test_a_dead_transceiver_hands_its_chunks_to_the_fibre() -> None:
    fault = {"kind": "transceiver-down", "start_s": 0, "end_s": HOUR_S, "rack": 1}
    run = run_clean(tiny_with(fault), ALL_WIRELESS)
    assert spans(run, src=1).is_empty()
    assert spans(run, dst=1).is_empty()
    assert run.iterations["fallback_chunks"].item() > 0


def test_a_transceiver_that_recovers_in_time_loses_nothing() -> None:
    fault = {"kind": "transceiver-down", "start_s": 0, "end_s": 1.5e-3, "rack": 1}
    run = run_clean(tiny_with(fault), ALL_WIRELESS)
    assert run.iterations["fallback_chunks"].item() == 0
    assert spans(run, src=1)["start_ps"].min() >= 1_500_000_000


def test_a_jammed_subband_stays_silent() -> None:
    fault = {"kind": "subband-jammed", "start_s": 0, "end_s": HOUR_S, "subband": 2}
    run = run_clean(tiny_with(fault), ALL_WIRELESS)
    assert spans(run, subband=2).is_empty()
    assert run.iterations["fallback_chunks"].item() == 0  # the other subbands carry everything


def test_a_blocked_pair_takes_the_fibre() -> None:
    fault = {"kind": "pair-blocked", "start_s": 0, "end_s": HOUR_S, "racks": [3, 4]}
    run = run_clean(tiny_with(fault), ALL_WIRELESS)
    assert spans(run, src=3, dst=4).is_empty()
    assert spans(run, src=4, dst=3).is_empty()
    assert run.iterations["fallback_chunks"].item() > 0


def test_a_dead_fibre_moves_waiting_chunks_to_thz() -> None:
    fault = {"kind": "fibre", "start_s": 0, "end_s": HOUR_S, "rack": 0}
    run = run_clean(tiny_with(fault), ALL_WIRED)
    assert run.iterations["rerouted_chunks"].item() > 0
    topology = Topology(run.scenario.floor)
    dead = {0, topology.racks}
    carried = run.tables["links"].filter(pl.col("bytes") > 0)["link"].unique().to_list()
    assert not dead & set(carried)


def test_rerouted_chunks_do_not_lift_a_decided_budget() -> None:
    """Only racks that were to be silent get power anew; here every rack was given half."""
    fault = {"kind": "fibre", "start_s": 0, "end_s": HOUR_S, "rack": 0}
    run = run_clean(tiny_with(fault), FIXED_RATIO)
    assert run.iterations["rerouted_chunks"].item() > 0
    half_w = 0.5 * run.scenario.thz.max_power_w
    assert spans(run, src=0)["power_w"].max() <= half_w * (1 + 1e-9)


def test_a_dead_fibre_is_waited_for_when_the_policy_may_not_leave_it() -> None:
    fault = {"kind": "fibre", "start_s": 0, "end_s": 0.05, "rack": 0}
    scenario = tiny_with(fault, coordinator={"wired_to_thz": False})
    run = run_clean(scenario, ALL_WIRED)
    assert run.iterations["rerouted_chunks"].item() == 0
    assert run.iterations["makespan_ms"].item() > 50


def test_a_fibre_at_a_tenth_of_its_rate_slows_what_crosses_it() -> None:
    fault = {"kind": "fibre", "start_s": 0, "end_s": HOUR_S, "rings": [0, 1], "rate_share": 0.1}
    slow = run_clean(tiny_with(fault), ALL_WIRED).events.filter(pl.col("kind") == "p2p")
    healthy = simulate(Scenario.preset("tiny"), ALL_WIRED, 1, references={}).events
    fast = healthy.filter(pl.col("kind") == "p2p")
    assert slow["completion_ms"].sum() > 4 * fast["completion_ms"].sum()


def test_of_overlapping_faults_of_a_fibre_the_worst_counts_and_outlasts_the_others() -> None:
    def dim(share: float, end_s: float = HOUR_S) -> dict[str, Any]:
        return {"kind": "fibre", "start_s": 0, "end_s": end_s, "rack": 0, "rate_share": share}

    worst = run_clean(tiny_with(dim(0.1)), ALL_WIRED).events
    for others in ([dim(0.1), dim(0.5)], [dim(0.5), dim(0.1)], [dim(0.1), dim(0.5, 1e-3)]):
        assert run_clean(tiny_with(*others), ALL_WIRED).events.equals(worst)


def test_frozen_compute_delays_that_racks_data_until_it_thaws() -> None:
    fault = {"kind": "compute-frozen", "start_s": 0, "end_s": 0.03, "rack": 0}
    run = run_clean(tiny_with(fault), FIXED_RATIO)
    first = run.events.filter(pl.col("number") == 0)
    assert first["end_ps"].item() > 30_000_000_000


def test_what_cannot_be_reached_ends_the_run_with_its_name_and_time() -> None:
    fibre = {"kind": "fibre", "start_s": 0, "end_s": HOUR_S, "rack": 0}
    radio = {"kind": "transceiver-down", "start_s": 0, "end_s": HOUR_S, "rack": 0}
    scenario = build_scenario(
        {"preset": "tiny", "faults": [fibre, radio], "collectives": {"stall_limit_s": 0.5}}, "test"
    )
    with pytest.raises(ThzSyncError, match=r" s .*racks 0"):
        simulate(scenario, FIXED_RATIO, 1, references={})


@given(scenario=scenarios(with_faults=True), seed=st.integers(0, 2**31))
def test_any_combination_of_faults_leaves_a_clean_audit(scenario: Scenario, seed: int) -> None:
    run = simulate(scenario, RandomPolicy(seed), 1, seed, references={})
    assert audit(run).violations == []
