from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.network.strategies import any_network, random_wires
from thzsync.errors import ThzSyncError
from thzsync.network import Buffers, Fibres, Network, Wires, cuts, fat_tree, leaf_spine, rings


def names(network: Network, path: tuple[int, ...]) -> list[str]:
    return [network.link_name(link) for link in path]


@given(any_network(), st.data())
def test_a_path_is_a_walk_from_rack_to_rack(network: Network, data: st.DataObject) -> None:
    rack = st.integers(0, network.racks - 1)
    i, j, flow = data.draw(rack), data.draw(rack), data.draw(st.integers(0, 1000))
    if i == j:
        with pytest.raises(ThzSyncError, match=rf"rack {i}\b"):
            network.path(i, j)
        return
    walk = [name.split(" -> ") for name in names(network, network.path(i, j, flow))]
    assert (walk[0][0], walk[-1][1]) == (f"rack {i}", f"rack {j}")
    assert all(a[1] == b[0] for a, b in itertools.pairwise(walk))
    assert len(walk) == network.hops(i, j)


@given(any_network())
def test_packets_only_move_to_queues_of_lower_ranks(network: Network) -> None:
    rank, racks = network.forwarding.rank, np.arange(network.racks)
    src, dst = (grid.ravel() for grid in np.meshgrid(racks, racks))
    src, dst = src[src != dst], dst[src != dst]
    for flow in range(4):
        steps = network.walk(src, dst, flow)[1:]
        for a, b in itertools.pairwise(steps):
            on = b >= 0
            assert (rank[a[on]] > rank[b[on]]).all()
        assert all((rank[step[step >= 0]] >= 0).all() for step in steps)


@given(any_network())
def test_expected_shares_of_a_flow_add_up_on_every_hop(network: Network) -> None:
    src = np.zeros(network.racks - 1, dtype=np.int64)
    dst = np.arange(1, network.racks)
    link, flow, share = network.shares(src, dst)
    np.testing.assert_allclose(np.bincount(flow, share), network.hops(src, dst))
    last = network.to_switch[link] < 0
    np.testing.assert_allclose(np.bincount(flow[last], share[last]), 1.0)


@given(random_wires())
def test_up_and_down_paths_never_wait_in_a_circle(wires: Wires) -> None:
    """Built without complaint, whatever the graph is: the proof is in the building."""
    network = wires.network(Buffers(), updown=True)
    racks = np.arange(1, network.racks)
    steps = network.walk(np.zeros_like(racks), racks)
    assert (np.sum([step >= 0 for step in steps], axis=0) == network.hops(0, racks)).all()


def test_a_circle_of_switches_is_refused_by_name() -> None:
    wires = Wires(6)
    switches = [wires.switch(f"s{k}") for k in range(6)]
    for rack, switch in enumerate(switches):
        wires.join(rack, switch, 1e11)
        wires.join(switch, switches[(rack + 1) % 6], 1e11)
    with pytest.raises(ThzSyncError, match=r"switch 0 -> switch 1 -> .*-> switch 0.*up-down"):
        wires.network(Buffers())


def test_a_rack_that_nobody_can_reach_is_refused_by_name() -> None:
    wires = Wires(3)
    for rack in range(3):
        wires.join(rack, wires.switch(f"s{rack}"), 1e11)
    wires.join(3, 4, 1e11)
    with pytest.raises(ThzSyncError, match="no path from rack 0 to rack 2"):
        wires.network(Buffers())


def test_the_papers_rings_have_two_or_three_hops() -> None:
    network = rings(np.arange(32) // 8)
    assert names(network, network.path(0, 9)) == [
        "rack 0 -> switch 0",
        "switch 0 -> switch 1",
        "switch 1 -> rack 9",
    ]
    assert network.path(0, 9) == (0, 64 + 1, 32 + 9)  # eq:wired_path
    assert network.path(0, 3) == (0, 32 + 3)
    assert len({network.link_name(q) for q in np.flatnonzero(network.rate_bps)}) == 64 + 12


@pytest.mark.parametrize("rack", [-1, 6])
def test_an_unknown_rack_has_no_path(rack: int) -> None:
    with pytest.raises(ThzSyncError, match=rf"rack {rack} .*0\.\.5"):
        rings([0, 0, 0, 1, 1, 1]).path(0, rack)


def test_a_leaf_spine_has_two_or_four_hops_and_the_oversubscription_asked_for() -> None:
    network = leaf_spine(32, 8, 4, Fibres(access_bps=4e11, oversubscription=2))
    assert network.hops(0, np.array([7, 8, 31])).tolist() == [2, 4, 4]
    up = network.outputs_of(0)[network.to_switch[network.outputs_of(0)] >= 0]
    assert 8 * 4e11 / network.rate_bps[up].sum() == 2


def test_a_fat_tree_has_as_many_switches_and_links_as_its_definition_says() -> None:
    k = 8
    network = fat_tree(k**3 // 4, k)
    assert network.switches == 5 * k * k // 4
    assert network.links == 2 * 3 * k**3 // 4
    assert network.hops(0, np.array([3, 4, 127])).tolist() == [2, 4, 6]
    _, _, share = network.shares(np.array([0]), np.array([127]))
    assert share.min() == 4 / k**2  # as many paths as cores


def test_flows_of_a_random_permutation_collide_like_balls_in_bins() -> None:
    """Of n flows from a leaf to others over n spines, a share 1 - 1/e of the spines is used."""
    n, used = 64, []
    for key in range(40):
        network = leaf_spine(2 * n, n, n)
        network = Network(**{**vars_of(network), "key": key * 7919})
        up = network.walk(np.arange(n), n + (np.arange(n) * 5 + key) % n)[1]
        used.append(len(np.unique(up)) / n)
    assert np.mean(used) == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.01)


def test_choices_of_following_switches_are_independent() -> None:
    """In a fat tree every core gets its share: switches do not pick by the same bits."""
    network = fat_tree(1024, 16)
    src = np.repeat(np.arange(64), 64)
    dst = 512 + np.tile(np.arange(64), 64)
    into_core = network.walk(src, dst)[2]
    _, count = np.unique(network.to_switch[into_core], return_counts=True)
    assert len(count) == 64
    assert count.max() < 2 * count.mean()


@pytest.mark.parametrize("network", [rings(np.arange(32) // 8), leaf_spine(30, 8, 4, nics=2)])
def test_places_are_numbers_where_racks_are_numbered_leaf_by_leaf(network: Network) -> None:
    assert network.place_of_rack.tolist() == list(range(network.racks))


@given(st.permutations(range(16)))
def test_neighbouring_places_share_a_leaf_and_leaves_a_pod(number: list[int]) -> None:
    tree = fat_tree(16, 4)
    node = np.array([*number, *range(16, 16 + tree.switches)])
    ends = [
        (int(node[a]), int(node[b]), float(bps), 0.0, 1, 0)
        for a, b, bps in zip(tree.source, tree.target, tree.rate_bps, strict=True)
    ]
    network = Wires(16, list(tree.switch_names), ends).network(Buffers())
    order = np.argsort(network.place_of_rack)
    hops = network.hops(order, np.roll(order, -1))
    assert order[0] == 0
    assert sorted(hops.tolist()) == [2] * 8 + [4] * 4 + [6] * 4
    found = cuts(network)
    assert [known.tier for known in found] == [0, 2, 4]
    for known, group in zip(found, (1, 2, 4), strict=True):
        ordered = known.group_of_rack[order].reshape(-1, group)
        assert (ordered == ordered[:, :1]).all()


def vars_of(network: Network) -> dict[str, object]:
    return {name: getattr(network, name) for name in network.__dataclass_fields__}
