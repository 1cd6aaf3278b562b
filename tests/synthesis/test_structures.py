"""The shapes of plans: trees, rings and permutations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from thzsync.collectives import Tensor, Transfer
from thzsync.scenario import Thz
from thzsync.synthesis import FlowMethod, Setting, find_method
from thzsync.synthesis.trees import Tree, grow_trees
from thzsync.transfers import TransferGraph


def plan_of(collective: str, name: str) -> Callable[..., TransferGraph]:
    """The flows of a method, their fabrics left open."""
    method = find_method(collective, name)
    assert isinstance(method, FlowMethod)
    return method.plan


def depth(tree: Tree, position: int) -> int:
    return 0 if position == tree.root else 1 + depth(tree, tree.parent[position])


def flat_db(n: int) -> np.ndarray:
    return np.full((n, n), -100.0)


def test_trees_have_distinct_roots_and_span_all_racks() -> None:
    trees = grow_trees(flat_db(12), np.zeros(12), 4, fan_out=4)
    assert len({tree.root for tree in trees}) == 4
    for tree in trees:
        assert sorted(tree.order) == list(range(12))


def test_no_rack_has_more_children_than_the_fan_out() -> None:
    for fan_out in (1, 2, 4):
        (tree,) = grow_trees(flat_db(13), np.zeros(13), 1, fan_out)
        assert max(len(tree.children(v)) for v in range(13)) == fan_out


def test_a_tree_is_as_shallow_as_its_fan_out_allows() -> None:
    """1 + 4 + 16 >= 12 > 1 + 4 with fan-out 4; a chain with fan-out 1."""
    (wide,) = grow_trees(flat_db(12), np.zeros(12), 1, fan_out=4)
    assert max(depth(wide, v) for v in range(12)) == 2
    (chain,) = grow_trees(flat_db(6), np.zeros(6), 1, fan_out=1)
    assert max(depth(chain, v) for v in range(6)) == 5


def test_delayed_racks_are_roots_the_most_delayed_first() -> None:
    delay_s = np.zeros(8)
    delay_s[5], delay_s[2] = 0.05, 0.09
    trees = grow_trees(flat_db(8), delay_s, 4, fan_out=4)
    assert [tree.root for tree in trees[:2]] == [2, 5]
    for tree in trees[2:]:  # elsewhere they hang from the root
        assert tree.parent[2] == tree.root
        assert tree.parent[5] == tree.root


def roots(plan: TransferGraph) -> list[int]:
    """By shard: the rack to which sums lead and from which none goes on."""
    found = []
    for shard in np.unique(plan.shard):
        up = (plan.shard == shard) & plan.reduces
        found += np.setdiff1d(plan.dst[up], plan.src[up]).tolist()
    return found


def test_the_proposed_plan_knows_who_is_late_and_the_single_tree_does_not() -> None:
    """Racks are named by their numbers on the floor, delays by position."""
    racks, delay_s = np.arange(10, 18), np.zeros(8)
    delay_s[5], delay_s[2] = 0.05, 0.09
    setting = Setting(np.ones((8, 8, 4)), delay_s, Thz())
    planned = {
        name: roots(plan_of("allreduce", name)(Tensor(8000), racks, 100, setting))
        for name in ("proposed", "single-tree")
    }
    assert planned == {"proposed": [12, 15, 10, 11], "single-tree": [10]}


def test_a_delayed_rack_with_bad_links_is_no_root() -> None:
    link_db = flat_db(8)
    link_db[3, :] = link_db[:, 3] = -140.0
    delay_s = np.zeros(8)
    delay_s[3] = 0.1
    assert all(tree.root != 3 for tree in grow_trees(link_db, delay_s, 4, fan_out=4))


def test_without_delays_the_best_connected_rack_is_the_root() -> None:
    link_db = flat_db(6)
    link_db[4, :] = link_db[:, 4] = -80.0
    assert grow_trees(link_db, np.zeros(6), 1, fan_out=4)[0].root == 4


def test_of_equally_shallow_parents_the_one_with_the_best_link_is_taken() -> None:
    link_db = flat_db(4)
    link_db[0, :] = link_db[:, 0] = -70.0  # the root
    link_db[1, 0] = link_db[0, 1] = -60.0
    link_db[2, 3] = link_db[3, 2] = -90.0  # rack 3 prefers rack 2 to rack 1
    (tree,) = grow_trees(link_db, np.array([0, 0.2, 0.1, 0]), 1, fan_out=2)
    root = tree.root
    below = [v for v in range(4) if tree.parent[v] == root]
    assert len(below) == 2
    (last,) = [v for v in range(4) if v != root and v not in below]
    assert tree.parent[last] == max(below, key=lambda u: link_db[u, last])


@pytest.mark.parametrize("racks", [2, 3, 7])
def test_a_ring_passes_every_segment_on_2n_minus_2_times(racks: int) -> None:
    plan = plan_of("allreduce", "ring-duplex")(
        Tensor(7000), np.arange(racks), 100, Setting.flat(racks, Thz())
    )
    assert plan.flows == racks * 2 * (racks - 1)
    assert set(plan.stage.tolist()) == set(range(2 * (racks - 1)))
    assert ((plan.dst - plan.src) % racks == 1).all()
    per_rack = np.bincount(plan.src, plan.flow_bytes)
    assert per_rack == pytest.approx(2 * 7000 * (racks - 1) / racks, abs=2 * racks)


def test_a_half_duplex_rings_subrounds_have_no_rack_twice() -> None:
    for racks in (4, 5, 9):
        plan = plan_of("allreduce", "ring")(
            Tensor(9000), np.arange(racks), 100, Setting.flat(racks, Thz())
        )
        for stage in np.unique(plan.stage):
            now = plan.stage == stage
            ends = np.concatenate((plan.src[now], plan.dst[now]))
            assert len(np.unique(ends)) == len(ends)


def full_a2a(racks: int, seed: int = 0) -> Transfer:
    src, dst = np.nonzero(~np.eye(racks, dtype=np.bool_))
    return Transfer.of(src, dst, np.random.default_rng(seed).integers(1, 1000, len(src)))


@pytest.mark.parametrize("name", ["demand-sorted", "cyclic"])
def test_every_stage_is_one_to_one(name: str) -> None:
    plan = plan_of("a2a", name)(full_a2a(9), np.arange(9), 100, Setting.flat(9, Thz()))
    for stage in np.unique(plan.stage):
        now = plan.stage == stage
        assert len(set(plan.src[now])) == len(set(plan.dst[now])) == now.sum()


def test_cyclic_offsets_are_by_position_not_by_rack_number() -> None:
    racks = np.array([3, 10, 11])
    demand = Transfer.of([3, 10, 11, 3], [10, 11, 3, 11], [5] * 4)
    plan = plan_of("a2a", "cyclic")(demand, racks, 100, Setting.flat(3, Thz()))
    assert plan.stage.tolist() == [0, 0, 0, 1]


def test_the_greatest_demand_stands_in_the_first_permutation() -> None:
    demand = full_a2a(6)
    plan = plan_of("a2a", "demand-sorted")(demand, np.arange(6), 100, Setting.flat(6, Thz()))
    assert plan.stage[np.argmax(plan.flow_bytes)] == 0
    for flow in np.flatnonzero(plan.stage > 0):  # each later flow met a larger one in the way
        earlier = (plan.stage == plan.stage[flow] - 1) & (plan.flow_bytes >= plan.flow_bytes[flow])
        in_the_way = (plan.src == plan.src[flow]) | (plan.dst == plan.dst[flow])
        assert (earlier & in_the_way).any()
