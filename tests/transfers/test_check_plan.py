"""A plan means what its collective means, in every order; its mutants do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.tensors import execute
from tests.transfers.build import (
    CHUNK,
    edited,
    plan_of,
    random_parent,
    ring_plan,
    transfers,
    tree_flows,
    tree_plan,
)
from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.ordering import plain_order, topological_order
from thzsync.transfers import semantics
from thzsync.transfers.check import check_plan

CHAIN = [-1, 0, 1]  # 2 -> 1 -> 0: flows 0: 1->0, 1: 2->1, 2: 0->1, 3: 1->2
STAR = [-1, 0, 0]  # flows 0: 1->0, 1: 2->0, 2: 0->1, 3: 0->2


def refused(plan, match):
    with pytest.raises(ThzSyncError, match=match) as caught:
        check_plan(plan)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "plan",
    [
        transfers([[0, 5, 0], [2500, 0, 1], [0, 0, 0]]),
        transfers([[0, 7], [0, 0]], "p2p", racks=[4, 9]),
        transfers(np.zeros((3, 3), dtype=int)),
        tree_plan([CHAIN], 2500),
        tree_plan([STAR, [1, -1, 1]], 4001),
        tree_plan([[-1]], 10),
        ring_plan(2, 3000),
        ring_plan(5, 10_001),
    ],
)
def test_right_plans_pass_and_work_on_arrays(plan):
    check_plan(plan)
    rng = np.random.default_rng(1)
    for _ in range(5):
        execute(plan, rng)


def test_zero_demand_needs_no_flow():
    check_plan(plan_of("a2a", [0, 1], Transfer.of([0], [1], [0]), []))
    check_plan(plan_of("allreduce", [0, 1], Tensor(0), []))


@given(n=st.integers(2, 9), trees=st.integers(1, 4), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_random_trees_pass_and_work_on_arrays(n, trees, seed):
    rng = np.random.default_rng(seed)
    plan = tree_plan([random_parent(n, rng) for _ in range(trees)], 3000 * trees)
    check_plan(plan)
    execute(plan, rng)


@given(n=st.integers(2, 9), seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_random_rings_pass_and_work_on_arrays(n, seed):
    plan = ring_plan(n, 1500 * n)
    check_plan(plan)
    execute(plan, np.random.default_rng(seed))


@given(n=st.integers(2, 6), seed=st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_a_mutant_that_passes_still_works_on_arrays(n, seed):
    """Soundness of the check: whatever it lets through gives the true sum in random orders."""
    rng = np.random.default_rng(seed)
    plan = tree_plan([random_parent(n, rng)], CHUNK)
    f, g = rng.integers(plan.flows, size=2)
    flip = rng.integers(5)
    if flip == 0:
        plan = edited(plan, reduces={f: ~plan.reduces[f]})
    elif flip == 1:
        plan = edited(plan, local={f: ~plan.local[f]})
    elif flip == 2 and len(plan.after):
        plan = edited(plan, after={rng.integers(len(plan.after)): g})
    elif flip == 3:
        plan = edited(plan, src={f: plan.src[g]})
    else:
        plan = edited(plan, dst={f: plan.dst[g]})
    try:
        check_plan(plan)
    except ThzSyncError:
        return
    for _ in range(10):
        execute(plan, rng)


def test_a_dropped_contribution_is_seen():
    flows = tree_flows(STAR, CHUNK)
    flows[2] = (*flows[2][:3], [0], True, 0, False)  # rack 0 answers rack 1 before 2 has come
    refused(plan_of("allreduce", range(3), Tensor(CHUNK), flows), "flow 2 .*rack 0")


def test_a_missing_flow_leaves_a_rack_without_the_sum():
    flows = tree_flows(STAR, CHUNK)[:3]
    plan = plan_of("allreduce", range(3), Tensor(CHUNK), flows)
    refused(plan, "rack 2 .*rack 0 .* 0 .* 1")


def test_a_double_reduction_is_seen():
    flows = tree_flows(STAR, CHUNK)
    flows.append((1, 0, CHUNK, [], True, 0, True))  # rack 1 adds its part once more
    for f in (2, 3):
        flows[f] = (*flows[f][:3], [0, 1, 4], *flows[f][4:])
    plan = plan_of("allreduce", range(3), Tensor(CHUNK), flows)
    refused(plan, "rack 0 .*rack 1 .* 2 .* 1")
    with pytest.raises(ThzSyncError, match="rack"):
        execute(plan, np.random.default_rng(0))


def test_adding_the_broadcast_sum_instead_of_replacing_counts_twice():
    plan = edited(tree_plan([STAR], CHUNK), reduces={2: True})
    refused(plan, "rack 1 .*rack 1 .* 2 ")


def test_replacing_where_one_should_add_is_seen():
    refused(edited(tree_plan([CHAIN], CHUNK), reduces={1: False}), " 0 times|overwrites")


def test_sending_on_before_the_child_has_come_is_a_race():
    plan = tree_plan([CHAIN], CHUNK)
    flows = tree_flows(CHAIN, CHUNK)
    flows[0] = (1, 0, CHUNK, [], True, 0, True)
    refused(plan_of("allreduce", range(3), Tensor(CHUNK), flows), "flow 0 .*rack 1")
    check_plan(plan)


def test_sending_before_ones_own_data_is_a_race():
    refused(edited(tree_plan([STAR], CHUNK), local={0: False}), "rack 1's")


def test_a_cycle_is_named():
    flows = [(0, 1, CHUNK, [1], True, 0, True), (1, 0, CHUNK, [0], True, 0, False)]
    refused(plan_of("allreduce", range(2), Tensor(CHUNK), flows), r"\[0, 1\]")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"after": {0: 0}}, "flow 2 .*rack 0|flow 0 "),
        ({"dst": {0: 7}}, "flow 0 .*racks"),
        ({"dst": {0: 1}}, "flow 0 .*rack 1 "),
        ({"flow_bytes": {0: 0}}, "byte"),
        ({"flow_bytes": {0: 2 * CHUNK}}, "flow 0 .*chunks"),
        ({"shard": {0: 1}}, "shard"),
        ({"after": {0: 99}}, r"after .*0\.\.3"),
        ({"demand": Tensor(CHUNK + 1)}, r"\b1 bytes too few .*\b0\b"),
        ({"demand": Transfer.of(0, 1, 5)}, "Tensor; found a Transfer"),
        ({"racks": np.array([2, 1, 0])}, "ascending"),
        ({"stage": np.zeros(3, dtype=np.int64)}, "columns"),
    ],
)
def test_malformed_allreduce_plans_are_refused(change, match):
    refused(edited(tree_plan([CHAIN], CHUNK), **change), match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"flow_bytes": {0: 4}}, "0->1 .*1 bytes too few"),
        ({"flow_bytes": {0: 6}}, "0->1 .*1 bytes too many"),
        ({"dst": {0: 2}}, "rack 1 .*rack 0 .* 0 .* 1"),
        ({"local": {1: False}}, "rack 1's .*local"),
        ({"racks": np.array([0, 1, 3])}, "racks"),
        ({"demand": Transfer.of([0, 1, 1], [1, 0, 5], [5, 9, 3])}, "rack 1 -> rack 5"),
    ],
)
def test_transfers_meet_the_demand_exactly(change, match):
    plan = transfers([[0, 5, 0], [9, 0, 3], [0, 0, 0]])
    check_plan(plan)
    refused(edited(plan, **change), match)


def test_an_allreduce_without_flows_is_refused():
    plan = plan_of("allreduce", range(3), Tensor(CHUNK), [])
    refused(plan, "1000 bytes too few")


def test_the_kernels_judge_alike_uncompiled(monkeypatch):
    plans = [ring_plan(4, 4000), edited(ring_plan(4, 4000), reduces={5: True})]
    orders = [topological_order(p.after_start, p.after) for p in plans]
    compiled = [semantics.judge(p, o) for p, o in zip(plans, orders, strict=True)]
    for plan, order in zip(plans, orders, strict=True):
        plain = plain_order(plan.after_start, plan.after)
        np.testing.assert_array_equal(plain, order)
    for name in ("_earlier", "_buffer", "judge_shard"):
        monkeypatch.setattr(semantics, name, getattr(semantics, name).py_func)
    plain = [semantics.judge(p, o) for p, o in zip(plans, orders, strict=True)]
    assert plain == compiled
    assert [v.code for v in plain] == [semantics.FINE, semantics.WRONG_COUNT]
