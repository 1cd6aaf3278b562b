"""Bounds on fibre: closed forms of the cuts, and never above any schedule on any network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.network.strategies import any_network
from thzsync.collectives import Tensor, Transfer, collective_names, find_collective
from thzsync.execution.alone import run_on_fibre
from thzsync.network import Buffers, Fibres, Network, cuts, fat_tree, leaf_spine, rings
from thzsync.optical import OpticalFabric
from thzsync.scenario import Thz
from thzsync.synthesis import Setting, find_method, method_names
from thzsync.synthesis.fibre_bounds import fibre_bound
from thzsync.transfers.check import check_plan

R = 1e11
SIZE = 10**6


def bound_s(network: Network, collective: str, demand: Tensor | Transfer) -> float:
    return fibre_bound(collective, demand, np.arange(network.racks), network).time_s


def pairs(n: int, size: int) -> Transfer:
    src, dst = np.nonzero(~np.eye(n, dtype=np.bool_))
    return Transfer.of(src, dst, np.full(len(src), size))


def test_tiers_are_racks_leaves_and_pods() -> None:
    found = cuts(fat_tree(16, 4, Fibres(access_bps=R, oversubscription=2)))
    assert [known.tier for known in found] == [0, 2, 4]
    assert [known.out_bps.tolist() for known in found] == [[R] * 16, [R] * 8, [2 * R] * 4]
    assert all((known.in_bps == known.out_bps).all() for known in found)
    assert found[2].name(1) == "racks 4..7"


def test_the_papers_floor_has_racks_and_rings() -> None:
    found = cuts(rings(np.arange(12) // 4, access_bps=R, inter_bps=3 * R))
    assert [known.out_bps.tolist() for known in found] == [[R] * 12, [6 * R] * 3]


def test_all_links_of_a_rack_count() -> None:
    found = cuts(leaf_spine(8, 4, 2, Fibres(access_bps=R), nics=3))
    assert [known.out_bps.tolist() for known in found] == [[3 * R] * 8, [12 * R] * 2]


@pytest.mark.parametrize("network", [leaf_spine(16, 4, 2), fat_tree(16, 4)])
def test_an_allreduce_sends_two_tensors_less_two_nths_from_every_rack(network: Network) -> None:
    n = network.racks
    expected = 2 * (n - 1) / n * 8 * SIZE / R
    assert bound_s(network, "allreduce", Tensor(SIZE)) == pytest.approx(expected)


@pytest.mark.parametrize("ratio", [4, 8])
def test_an_oversubscribed_leaf_sets_the_bound(ratio: int) -> None:
    """An AllReduce among k leaves sends 2(k - 1) tensors between them."""
    m, k = 2, 4
    fibres = Fibres(access_bps=R, oversubscription=ratio)
    for network in (leaf_spine(m * k, m, 2, fibres), fat_tree(m * k, 4, fibres)):
        up_bps = m * R / ratio
        got = bound_s(network, "allreduce", Tensor(SIZE))
        expected = 2 * (k - 1) / k * 8 * SIZE / up_bps
        assert got == pytest.approx(expected)
        got = bound_s(network, "a2a", pairs(m * k, SIZE))
        assert got == pytest.approx(m * m * (k - 1) * 8 * SIZE / up_bps)


def test_a_permutation_needs_the_line_rate() -> None:
    network = leaf_spine(8, 4, 4)
    swap = Transfer.of(np.arange(8), (np.arange(8) + 4) % 8, np.full(8, SIZE))
    assert bound_s(network, "p2p", swap) == pytest.approx(8 * SIZE / R)


def test_an_incast_needs_the_link_of_its_target() -> None:
    network = fat_tree(16, 4)
    incast = Transfer.of(np.arange(1, 16), np.zeros(15, dtype=int), np.full(15, SIZE))
    found = fibre_bound("p2p", incast, np.arange(16), network)
    assert found.time_s == pytest.approx(15 * 8 * SIZE / R)
    assert found.where == "into rack 0"


def test_lanes_across_two_rings_share_one_link() -> None:
    """The link between two switches is not a cut, but the lanes have no other path."""
    network = rings(np.arange(24) // 8, access_bps=R, inter_bps=R)
    lanes = Transfer.of(np.arange(8), np.arange(8, 16), np.full(8, SIZE))
    assert bound_s(network, "p2p", lanes) == pytest.approx(8 * 8 * SIZE / R)
    relayed = fibre_bound("p2p", lanes, np.arange(24), network, forwarding=True)
    assert relayed.time_s == pytest.approx(8 * 8 * SIZE / (2 * R))


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_half_an_allreduce_has_half_its_bound(collective: str) -> None:
    network = leaf_spine(8, 4, 4)
    got = bound_s(network, collective, Tensor(8000))
    assert got == pytest.approx(7 / 8 * 8 * 8000 / R)


def test_a_straggler_reaches_everybody_after_its_release() -> None:
    """Its data leaves it once, and comes to each of the others once."""
    network, n = leaf_spine(8, 4, 4), 8
    late_s = np.zeros(n)
    late_s[3] = 1.0
    found = fibre_bound("allreduce", Tensor(SIZE), np.arange(n), network, late_s)
    assert found.time_s == pytest.approx(1 + 8 * SIZE / R)
    late_s[3] = 1e-9
    found = fibre_bound("allreduce", Tensor(SIZE), np.arange(n), network, late_s)
    assert found.time_s == pytest.approx(2 * (n - 1) / n * 8 * SIZE / R)


def test_nothing_to_send_takes_no_time() -> None:
    network = leaf_spine(4, 2, 1)
    assert bound_s(network, "allreduce", Tensor(0)) == 0
    assert bound_s(network, "p2p", Transfer.of([], [], [])) == 0
    alone = fibre_bound("allreduce", Tensor(SIZE), np.array([2]), network)
    assert alone.time_s == 0


@given(any_network(), st.sampled_from(collective_names()), st.integers(0, 2**32 - 1))
def test_no_method_on_any_network_beats_the_bound(
    network: Network, collective: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    racks = np.sort(rng.choice(network.racks, rng.integers(2, network.racks + 1), replace=False))
    meaning = find_collective(collective)
    if meaning.demand is Tensor:
        demand: Tensor | Transfer = Tensor(
            int(rng.integers(1, 50_000)), int(racks[0]) if meaning.rooted else None
        )
    else:
        full = pairs(len(racks), 1)
        size = rng.integers(0, 5000, len(full.src))
        demand = Transfer.of(racks[full.src], racks[full.dst], size)
    late_s = rng.choice([0.0, 1e-9, 1e-7, 1e-6], len(racks))
    bound = fibre_bound(collective, demand, racks, network, late_s)
    for name in method_names(collective):
        method = find_method(collective, name)
        end_s = run_on_fibre(demand, racks, method, 1000, OpticalFabric(network), late_s)
        assert end_s >= bound.time_s * (1 - 1e-9)


@pytest.mark.parametrize("kind", ["leaf-spine", "fat-tree"])
def test_a_ring_along_the_leaves_meets_its_bound(kind: str) -> None:
    fibres = Fibres(access_bps=R, buffers=Buffers(packet_bytes=1000, switch_delay_ps=0))
    network = leaf_spine(16, 4, 4, fibres) if kind == "leaf-spine" else fat_tree(16, 4, fibres)
    demand, racks = Tensor(16 * 1_000_000), np.arange(16)
    bound = fibre_bound("allreduce", demand, racks, network)
    ring = find_method("allreduce", "ring")
    end_s = run_on_fibre(demand, racks, ring, 100_000, OpticalFabric(network))
    assert bound.time_s < end_s < 1.05 * bound.time_s


def test_a_ring_visits_leaf_after_leaf_whatever_the_numbers() -> None:
    network = rings(np.arange(12) % 3, access_bps=R, inter_bps=R)
    racks = np.array([1, 2, 3, 4, 6, 8, 9, 10])
    setting = replace(Setting.flat(len(racks), Thz()), place=network.place_of_rack[racks])
    for collective in ("allreduce", "all-gather", "reduce-scatter"):
        name = "ring" if collective == "allreduce" else "proposed"
        offer = find_method(collective, name).offer(Tensor(8000), racks, 1000, setting)
        graph = offer.lower(np.zeros(offer.units, dtype=np.int64))
        check_plan(graph)
        crossing = graph.src % 3 != graph.dst % 3
        edges = np.unique(np.stack((graph.src, graph.dst), axis=1)[crossing], axis=0)
        assert len(edges) == 3


@pytest.mark.parametrize(("racks_of_ring", "most"), [((8, 8, 8, 8), 1.05), ((8, 5, 7, 4), 1.2)])
def test_a_rotated_all_to_all_keeps_the_links_between_rings_busy(
    racks_of_ring: tuple[int, ...], most: float
) -> None:
    """They carry just what the racks offer; by number, flows wait for each other at every link."""
    buffers = Buffers(
        packet_bytes=1000,
        output_queue_bytes=64_000,
        shared_buffer_bytes=512_000,
        switch_delay_ps=0,
    )
    inter_bps = R * 8 * 8 / 31
    network = rings(np.arange(32) // 8, access_bps=R, inter_bps=inter_bps, buffers=buffers)
    racks = np.flatnonzero(np.arange(32) % 8 < np.repeat(racks_of_ring, 8))
    full = pairs(len(racks), 4000)
    demand = Transfer.of(racks[full.src], racks[full.dst], full.size_bytes)
    sustained, proposed = (
        run_on_fibre(demand, racks, find_method("a2a", name), 4000, OpticalFabric(network))
        for name in ("sustained", "proposed")
    )
    bound_s = fibre_bound("a2a", demand, racks, network).time_s
    assert bound_s <= sustained < min(most * bound_s, proposed)


def test_a_rotation_is_a_permutation_at_a_time_and_uses_all_leaves() -> None:
    network, racks = rings(np.arange(12) // 4), np.arange(12)
    setting = Setting.flat(12, Thz()).at(network, racks)
    offer = find_method("a2a", "sustained").offer(pairs(12, 1), racks, 1, setting)
    graph = offer.lower(np.zeros(offer.units, dtype=np.int64))
    targets = [graph.dst[graph.src == rack] for rack in racks]
    for rack, own in zip(racks, targets, strict=True):
        assert sorted(own) == np.delete(racks, rack).tolist()
        assert np.diff(own // 4).all()
    for k in range(2, 11):  # before that, every rack leaves itself out
        together = np.array([own[k] for own in targets])
        assert sorted(together) == racks.tolist()
        assert all(len(set(together[leaf : leaf + 4] // 4)) == 3 for leaf in (0, 4, 8))
