"""Topologies of other tools become the networks that their own programs would build."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.network.topologies import ASTRA, HTSIM, INFRAGRAPH, shared
from thzsync.errors import ThzSyncError
from thzsync.network import Buffers, Network, Wires
from thzsync.network.importers import read_wires

GIB = 8 * 2**30
"""Bits per second of what ASTRA-sim calls 1 GB/s."""


def read(folder: Path, name: str, text: str) -> Wires:
    (folder / name).write_text(text)
    return read_wires(folder / name)


def built(name: str) -> Network:
    return read_wires(shared(name)).network(Buffers())


def rates(network: Network) -> dict[int, int]:
    """How many links have a rate [Gbit/s, or GiB/s times 8 for ASTRA-sim]."""
    return dict(Counter(int(r) for r in network.rate_bps))


def names(network: Network, src: int, dst: int) -> list[str]:
    """The switches on the path between racks."""
    path = network.path(src, dst)
    return [network.node_name(int(network.target[link])) for link in path[:-1]]


def reach(network: Network) -> None:
    """Every rack reaches every other, over links that meet."""
    for src in range(network.racks):
        for dst in set(range(network.racks)) - {src}:
            path = network.path(src, dst)
            assert network.source[path[0]] == src
            assert network.target[path[-1]] == dst
            pairs = pairwise(path)
            assert all(network.target[a] == network.source[b] for a, b in pairs)


# InfraGraph


def test_single_tier_of_infragraph() -> None:
    """Eight servers with two NICs each, all at one switch."""
    network = built("infragraph-gen__single_tier_8hosts.yaml")
    assert (network.racks, network.switch_names) == (8, ("switch 0",))
    assert rates(network) == {100 * 10**9: 2 * 8 * 2}
    assert network.ports == 2
    assert names(network, 0, 7) == ["switch 0"]
    reach(network)


def test_clos_of_infragraph() -> None:
    """16 servers, two per leaf by two NICs; 8 leaves and 4 spines, all joined."""
    network = built("infragraph-gen__clos_fat_tree_2level.yaml")
    assert network.racks == 16
    assert network.switch_names == (
        *(f"tier_0 {k}" for k in range(8)),
        *(f"tier_1 {k}" for k in range(4)),
    )
    assert rates(network) == {100 * 10**9: 2 * 32, 200 * 10**9: 2 * 32}
    assert names(network, 0, 1) == ["tier_0 0"]
    up = names(network, 0, 15)
    assert (up[0], up[1].split()[0], up[2]) == ("tier_0 0", "tier_1", "tier_0 7")
    assert len({names(network, src, dst)[1] for src in range(2) for dst in range(2, 16)}) > 1
    reach(network)


def test_the_old_dialect_of_infragraph_is_refused() -> None:
    path = shared("infragraph__two-tier-clos-fabric-infrastructure.yaml")
    with pytest.raises(ThzSyncError, match=r"2\.x.*3\.1") as caught:
        read_wires(path)
    assert str(path) in str(caught.value)
    assert len(caught.value.lines) == 1


def test_slices_units_and_composed_devices(tmp_path: Path) -> None:
    """Two rails; unused spines are left out; racks are numbered, whatever stands before them."""
    network = read(tmp_path, "rails.yaml", INFRAGRAPH).network(Buffers())
    assert network.racks == 4
    assert network.switch_names == ("leaf 0", "leaf 1", "spine 0", "spine 1")
    assert rates(network) == {400 * 10**9: 2 * 8, 800 * 10**9: 2 * 4}
    assert set(network.delay_ps[network.rate_bps == 400 * 10**9]) == {500_000}
    assert set(network.delay_ps[network.rate_bps == 800 * 10**9]) == {0}
    ends = [network.node_name(int(network.target[link])) for link in network.uplinks]
    assert ends == ["leaf 0", "leaf 1"] * 4
    assert len(network.path(0, 3)) == 2
    reach(network)


def test_json_and_the_answer_of_a_server_are_the_same(tmp_path: Path) -> None:
    document = yaml.safe_load(INFRAGRAPH)
    wires = read(tmp_path, "a.yaml", INFRAGRAPH)
    assert read(tmp_path, "a.json", json.dumps(document, indent="\t")) == wires
    answer = {"infrastructure": document, "annotations": {"nodes": []}}
    assert read(tmp_path, "b.json", json.dumps(answer)) == wires


def test_an_edge_that_is_named_twice_is_one(tmp_path: Path) -> None:
    """Many to many within one instance names each pair in both directions."""
    text = INFRAGRAPH.replace(
        'ep1: {instance: "leaf", component: "port[15]"}\n  ep2: {instance: "spine[0:2]"',
        'ep1: {instance: "leaf", component: "port[0]"}\n  ep2: {instance: "leaf"',
    )
    network = read(tmp_path, "mesh.yaml", text).network(Buffers())
    assert network.switches == 2
    assert rates(network)[800 * 10**9] == 2


def test_accelerators_on_boards_make_a_rack(tmp_path: Path) -> None:
    """A server whose xpus are parts of a device in it is a rack, and not a switch."""
    text = INFRAGRAPH.replace("  - {name: xpu, choice: xpu, count: 8}\n", "").replace(
        "- {name: port, choice: port, count: 2}",
        "- {name: port, choice: port, count: 2}\n  - {name: xpu, choice: xpu, count: 1}",
    )
    assert read(tmp_path, "a.yaml", text) == read(tmp_path, "b.yaml", INFRAGRAPH)


# ASTRA-sim


def test_one_switch_of_astra() -> None:
    """Rack, its own switch, the switch, and back; 400 GiB/s each way."""
    network = built("astra__HGX-H100-validated.yml")
    assert network.switch_names == (*(f"NPU {k}" for k in range(8)), "dimension 0 switch 0")
    assert rates(network) == {400 * GIB: 2 * (8 + 8)}
    assert names(network, 2, 5) == ["NPU 2", "dimension 0 switch 0", "NPU 5"]
    latencies = [int(network.delay_ps[link]) for link in network.path(2, 5)]
    assert latencies == [0, 936_250, 936_250, 0]
    reach(network)


def test_a_ring_of_astra_is_whole_for_neighbours_and_cannot_stand_still() -> None:
    """Neighbours are one link apart everywhere, also across the seam; others do not cross it."""
    network = built("astra__Ring_16npus.yml")
    assert network.switches == 16
    assert rates(network) == {100 * GIB: 2 * 16, 50 * GIB: 2 * 16}
    for npu in range(16):
        for other in ((npu + 1) % 16, (npu - 1) % 16):
            assert names(network, npu, other) == [f"NPU {npu}", f"NPU {other}"]
    lengths = [len(names(network, 0, dst)) - 1 for dst in range(16)[1:]]
    assert lengths == [*range(1, 15), 1]
    reach(network)


def test_two_dimensions_of_astra() -> None:
    """Groups of 8 at a switch, four groups, and a ring of four through each place in them."""
    network = built("astra__hgx_h100_32gpu.yml")
    assert (network.racks, network.switches) == (32, 32 + 4)
    assert rates(network) == {500 * GIB: 2 * 32, 400 * GIB: 2 * 32, 50 * GIB: 2 * 8 * 4}
    assert names(network, 0, 7) == ["NPU 0", "dimension 0 switch 0", "NPU 7"]
    assert names(network, 8, 15) == ["NPU 8", "dimension 0 switch 1", "NPU 15"]
    across = ["NPU 8", "dimension 0 switch 1", "NPU 15", "NPU 23"]
    assert names(network, 8, 23) == across  # dimension by dimension
    assert names(network, 3, 11) == ["NPU 3", "NPU 11"]
    assert names(network, 3, 27) == ["NPU 3", "NPU 27"]
    reach(network)


def test_three_dimensions_of_astra() -> None:
    """64 NPUs: 32 pairs, 8 full meshes of 8, and 16 switches with 4 each."""
    network = built("astra__Ring_FullyConnected_Switch.yml")
    assert (network.racks, network.switches) == (64, 64 + 16)
    own = 200 + 7 * 100 + 50
    assert rates(network) == {
        own * GIB: 2 * 64,
        200 * GIB: 2 * 32,
        100 * GIB: 2 * 8 * 28,
        50 * GIB: 2 * 64,
    }
    assert names(network, 0, 1) == ["NPU 0", "NPU 1"]
    assert names(network, 0, 2 * 5) == ["NPU 0", "NPU 10"]
    assert names(network, 0, 16 * 3) == ["NPU 0", "dimension 2 switch 0", "NPU 48"]
    assert names(network, 47, 63) == ["NPU 47", "dimension 2 switch 15", "NPU 63"]
    reach(network)


@pytest.mark.parametrize(
    ("kinds", "counts"),
    [("Ring", "2"), ("Ring", "3"), ("Ring", "4"), ("Ring", "7"), ("Switch", "9"),
     ("FullyConnected", "6"), ("Switch, Switch", "2, 2"), ("Ring, Ring", "4, 5"),
     ("FullyConnected, Ring, Switch", "3, 4, 2")],
)  # fmt: skip
def test_paths_by_dimension_never_wait_in_a_circle(tmp_path: Path, kinds: str, counts: str) -> None:
    one = ", ".join("1" for _ in counts.split(","))
    text = f"topology: [{kinds}]\nnpus_count: [{counts}]\nbandwidth: [{one}]\nlatency: [{one}]\n"
    reach(read(tmp_path, "n.yml", text).network(Buffers()))


def test_latencies_and_names_of_astra(tmp_path: Path) -> None:
    network = read(tmp_path, "astra.yml", ASTRA).network(Buffers())
    assert (network.racks, network.switches) == (12, 12 + 6)
    found = {
        (int(r) // GIB, int(d)) for r, d in zip(network.rate_bps, network.delay_ps, strict=True)
    }
    assert found == {(8 + 2 + 1, 0), (4, 10_000), (2, 20_500), (1, 30_000)}
    assert names(network, 5, 11) == ["NPU 5", "dimension 2 switch 5", "NPU 11"]


# csg-htsim


def test_fat_tree_of_htsim() -> None:
    """Two pods of two leaves and two aggregations; four cores, each by two fibres to a pod."""
    network = built("astra__8nodes.topo")
    assert network.racks == 8
    assert network.switch_names == tuple(
        f"tier {tier} switch {k}" for tier in range(3) for k in range(4)
    )
    assert rates(network) == {200 * 10**9: 2 * (8 + 4 * 2), 100 * 10**9: 2 * (4 * 2 * 2)}
    assert set(network.delay_ps) == {1_000_000}
    assert [len(network.path(0, dst)) for dst in (1, 2, 3, 4, 7)] == [2, 4, 4, 6, 6]
    joined = {network.link_name(link) for link in network.outputs}
    assert "tier 1 switch 0 -> tier 2 switch 2" in joined
    assert "tier 1 switch 3 -> tier 2 switch 3" in joined
    assert "tier 1 switch 0 -> tier 2 switch 1" not in joined
    reach(network)


def test_cores_of_htsim_are_dealt_out(tmp_path: Path) -> None:
    """With four fibres up and no bundles, aggregations 0 and 1 take every other core."""
    text = HTSIM.replace("Radix_Down 2\nRadix_Up 2", "Radix_Down 2\nRadix_Up 4")
    core = "Tier 2\nDownlink_speed_Gbps 50\nRadix_Down 2\nDownlink_Latency_ns 300\n"
    text = text.partition("Tier 2\n")[0] + core
    network = read(tmp_path, "tree.topo", text).network(Buffers())
    joined = {network.link_name(link) for link in network.outputs}
    for pod in (0, 2):
        for place in (0, 1):
            above = {
                k for k in range(8) if f"tier 1 switch {pod + place} -> tier 2 switch {k}" in joined
            }
            assert above == set(range(place, 8, 2))


def test_bundles_and_oversubscription_of_htsim(tmp_path: Path) -> None:
    """16 hosts, 4 per leaf; 2 leaves and 2 aggregations per pod; a core for each place in a pod."""
    network = read(tmp_path, "tree.topo", HTSIM).network(Buffers())
    assert (network.racks, network.switches) == (16, 4 + 4 + 2)
    assert network.links == 2 * (16 + 4 * 2 + 4 * 2)
    by_delay = Counter(int(d) // 1000 for d in network.delay_ps)
    assert by_delay == {100: 2 * 16, 200: 2 * 8, 300: 2 * 8}
    assert names(network, 0, 15)[2] in ("tier 2 switch 0", "tier 2 switch 1")
    reach(network)


def test_leaf_and_spine_of_htsim(tmp_path: Path) -> None:
    """Two tiers are one pod: 4 leaves of 8 hosts, 2 spines."""
    text = """Nodes 32\nTiers 2\nPodsize 32\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8
Radix_Up 2\nOversubscribed 4\nDownlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 100
Radix_Down 4\nDownlink_Latency_ns 1000\n"""
    network = read(tmp_path, "leaf.txt", text).network(Buffers())
    assert (network.racks, network.switches, network.links) == (32, 6, 2 * (32 + 8))
    reach(network)
