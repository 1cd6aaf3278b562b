"""Mechanisms beyond the paper's: near the bound, right under faults, guard time where owed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.tensors import execute
from tests.simulation.scenarios import scenarios
from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.experiments.single_ring import Instance
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.synthesis import Setting
from thzsync.synthesis.routes import strongest_route
from thzsync.synthesis.stragglers import Meeting, meeting
from thzsync.synthesis.streamed import Route, best_route, path_flows
from thzsync.testing.floors import RandomPolicy

RING = Scenario.preset("single-ring")
BEYOND = {
    "collectives.allreduce": "streamed-and-ring",
    "collectives.a2a": "sustained",
    "collectives.p2p": "striped",
}
MIB = 2**20


def times_bound(collective: str, method: str, racks: int, late: bool, seeds: int = 3) -> float:
    """Mean completion over the mean bound."""
    instances = [Instance(RING, collective, racks, late, seed) for seed in range(seeds)]
    taken = [instance.run(method).completion_ps / 1e9 for instance in instances]
    return float(np.mean(taken) / np.mean([i.bound_ms(method, tight=late) for i in instances]))


@pytest.mark.parametrize(
    ("racks", "most"),
    [(4, 1.36), (12, 1.22), *(pytest.param(n, 1.25, marks=pytest.mark.slow) for n in (6, 8, 10))],
)
def test_a_streamed_allreduce_comes_near_the_bound(racks: int, most: float) -> None:
    assert 1.0 <= times_bound("allreduce", "path", racks, late=False) <= most


def test_a_late_rack_is_the_root_and_waits_for_nobody() -> None:
    """One late rack: everything else is summed up before its data is there."""
    assert times_bound("allreduce", "path", 6, late=True) <= 1.25
    instance = Instance(RING, "allreduce", 6, True, 0, 8 * MIB)
    late = int(np.argmax(instance.late_s))
    graph = instance.run("path").plan
    assert set(graph.src[~graph.reduces & graph.local].tolist()) == {late}


@pytest.mark.parametrize(("racks", "most"), [(4, 1.22), (12, 1.29)])
def test_sustained_links_come_near_the_bound(racks: int, most: float) -> None:
    assert 1.0 <= times_bound("a2a", "sustained", racks, late=False) <= most


def test_a_striped_lane_takes_a_third_of_the_time_of_one_subband() -> None:
    lane = Instance(Scenario.preset("paper"), "p2p", 2, False, 0, 16 * MIB)
    one, four = (lane.run(name).completion_ps for name in ("proposed", "striped"))
    assert four < 0.4 * one
    assert four / 1e9 < 1.15 * lane.bound_ms("striped")


def test_links_that_stay_pointed_owe_no_guard_time() -> None:
    """The first round turns every chain; later ones turn one only when a flow has ended."""
    schedule = Instance(RING, "allreduce", 8, False, 0, 64 * MIB).run("path")
    _, first = np.unique(schedule.round, return_index=True)
    guarded = schedule.overhead_ps[first] > 0
    assert guarded[0]
    assert guarded.mean() < 0.2
    execute(schedule, np.random.default_rng(0))


@pytest.mark.parametrize("root", range(5))
def test_a_path_reduces_towards_its_root_and_spreads_back(root: int) -> None:
    flows = path_flows(np.arange(5), root, 1000)
    assert len(flows) == 8
    into_root = [flow for flow in flows if flow.reduces and flow.dst == root]
    assert len(into_root) == (1 if root in (0, 4) else 2)
    assert all(flow.local for flow in flows if flow.reduces)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_route_is_nearly_the_cheapest(seed: int, closed: bool) -> None:
    cost = np.random.default_rng(seed).random((6, 6)) ** 4
    cost = np.maximum(cost, cost.T)

    def total(order: tuple[int, ...]) -> float:
        stops = (*order, order[0]) if closed else order
        return float(sum(cost[a, b] for a, b in pairwise(stops)))

    best = min(map(total, permutations(range(6))))
    assert total(tuple(strongest_route(cost, closed).tolist())) <= 1.5 * best
    np.testing.assert_array_equal(
        strongest_route.py_func(cost, closed),  # type: ignore[attr-defined]
        strongest_route(cost, closed),
    )


def test_a_closed_ring_is_streamed_round_and_comes_within_a_tenth_of_the_bound() -> None:
    """On a full ring every rack has two strong neighbours: the cycle leaves no subband idle."""
    full = Scenario.preset("paper")
    instance = Instance(full, "allreduce", 8, False, 0, 64 * MIB)
    schedule = instance.run("streamed")
    graph = schedule.plan
    assert len({(s, d) for s, d in zip(graph.src, graph.dst, strict=True)}) == 8
    assert schedule.completion_ps / 1e9 < 1.12 * instance.bound_ms("streamed")
    assert schedule.completion_ps < 0.95 * instance.run("path").completion_ps
    execute(schedule, np.random.default_rng(0))


def with_two_late(racks: int, one: int, other: int) -> Instance:
    instance = Instance(RING, "allreduce", racks, False, 0, 8 * MIB)
    instance.late_s[[one, other]] = 0.01, 0.0101
    return instance


@pytest.mark.parametrize("racks", [4, 5, 6, 10])
def test_the_data_of_two_late_racks_meets_at_the_roots(racks: int) -> None:
    """Late racks send their own data to roots only, and what is not late is there before."""
    schedule = with_two_late(racks, 1, racks - 1).run("streamed")
    graph = schedule.plan
    assert set(graph.disciplines) == {"sustained-chunk"}
    late = {1, racks - 1}
    roots = set(graph.src[~graph.reduces & graph.local].tolist())
    own = graph.reduces & np.isin(graph.src, list(late))
    assert set(graph.dst[own].tolist()) <= roots
    sums = np.flatnonzero(graph.reduces & ~own)
    assert schedule.start_ps[np.isin(schedule.flow, sums)].min() == 0
    execute(schedule, np.random.default_rng(0))


def test_racks_far_apart_meet_at_helpers_and_neighbours_straight() -> None:
    far, near = (
        best_route(
            Setting(i.channel.gain_matrix(i.members, 0), i.late_s, RING.thz), i.members, 2**29
        )
        for i in (with_two_late(10, 0, 9), with_two_late(10, 4, 5))
    )
    assert isinstance(far, Meeting)
    assert isinstance(near, Meeting)
    assert far.shares[~np.isin(far.roots, far.late)].sum() > 0.5
    assert near.shares[np.isin(near.roots, near.late)].sum() > 0.5


def test_one_path_does_where_the_second_rack_is_much_later() -> None:
    instance = with_two_late(10, 2, 5)
    instance.late_s[5] = 1.0
    setting = Setting(instance.channel.gain_matrix(instance.members, 0), instance.late_s, RING.thz)
    route = best_route(setting, instance.members, 512 * MIB)
    assert isinstance(route, Route)
    assert route.root is not None
    assert route.racks[route.root] == 5


@pytest.mark.parametrize(
    ("racks", "most"),
    [(8, 1.25), *(pytest.param(n, 1.25, marks=pytest.mark.slow) for n in (10, 12))],
)
def test_late_racks_cost_little_more_than_the_bound(racks: int, most: float) -> None:
    assert times_bound("allreduce", "streamed", racks, late=True, seeds=2) <= most


@pytest.mark.parametrize(
    ("method", "longest_s"), [("a2a=sustained", 1.7e-4), ("p2p=striped", 8.5e-5)]
)
def test_a_link_that_needs_all_power_gets_it(method: str, longest_s: float) -> None:
    key, _, name = method.partition("=")
    still = {"channel.fluctuation_db": 0, "channel.blockage.share": 0}
    scenario = Scenario.preset("tiny").with_(
        {f"collectives.{key}": name, "thz.longest_round_s": longest_s, **still}
    )
    run = simulate(scenario, "all-wireless", 1, references={})
    assert audit(run).violations == []


def test_a_route_numbers_its_flows_and_shards_from_where_it_is_told() -> None:
    instance = with_two_late(6, 1, 4)
    setting = Setting(instance.channel.gain_matrix(instance.members, 0), instance.late_s, RING.thz)
    met, _ = meeting(setting, np.arange(6), 6000)
    for route in (Route(np.arange(6), None), Route(np.arange(6), 2), met):
        flows = route.flows(6000, shard=7, first=100, thz=True)
        assert all(flow.thz and flow.shard >= 7 for flow in flows)
        assert all(100 <= f < 100 + len(flows) for flow in flows for f in flow.after)
        assert all(not flow.bundled and flow.stage == 0 for flow in flows)


def test_the_methods_are_several_times_faster_on_the_papers_floor() -> None:
    """All-Wireless in one iteration: the sum of event times falls to less than half."""
    paper, beyond = Scenario.preset("paper"), Scenario.preset("beyond")
    before, after = (
        simulate(s, "all-wireless", 1, references={}).summary["completion_ms"]
        for s in (paper, beyond)
    )
    assert after < 0.5 * before


@given(scenario=scenarios(with_faults=True), seed=st.integers(0, 2**31))
@settings(max_examples=12)
def test_any_combination_of_faults_leaves_a_clean_audit(scenario: Scenario, seed: int) -> None:
    try:
        changed = scenario.with_(BEYOND)
    except ThzSyncError:
        return
    run = simulate(changed, RandomPolicy(seed), 1, seed, references={})
    assert audit(run).violations == []


def damaged(run: Run, overhead: pl.Expr) -> Run:
    rounds = run.rounds.with_columns(overhead_ps=overhead)
    return replace(run, tables=run.tables | {"rounds": rounds})


def test_the_auditor_knows_where_a_guard_time_is_owed() -> None:
    scenario = Scenario.preset("tiny").with_(BEYOND | {"thz.round_overhead_s": 2e-5})
    run = simulate(scenario, "all-wireless", 1, references={})
    verdict = audit(run)
    assert verdict.ok
    assert verdict.checks["steering"] > 0
    column, guard_ps = pl.col("overhead_ps"), 20_000_000
    unpaid = damaged(run, pl.when(column > 0).then(0).otherwise(column))
    needless = damaged(
        run, pl.when(pl.col("discipline") == "pipeline").then(guard_ps).otherwise(column)
    )
    for forged in (unpaid, needless):
        assert "steering" in audit(forged).broken
