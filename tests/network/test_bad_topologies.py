"""A wrong topology file is told in one line, with file, place and remedy, and soon."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from tests.network.topologies import ASTRA, HTSIM, INFRAGRAPH
from thzsync.errors import ThzSyncError
from thzsync.network import Buffers, Wires
from thzsync.network.importers import read_wires


def refusal(path: Path) -> str:
    with pytest.raises(ThzSyncError) as caught:
        read_wires(path)
    (line,) = caught.value.lines
    assert str(caught.value) == line
    assert line.startswith(f"{path}: ")
    assert ";" in line
    return line.removeprefix(f"{path}: ")


def refused(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return refusal(path)


ASTRA_MISTAKES = [
    ("Ring,", "Torus,", "topology[0]"),
    ("Ring,", "[Ring],", "topology[0]"),
    ("[ 3, 2, 2 ]", "[ 3, 2 ]", "npus_count"),
    ("[ 3, 2, 2 ]", "12", "npus_count"),
    ("[ 3, 2, 2 ]", "[ 1, 2, 2 ]", "npus_count[0]"),
    ("[ 3, 2, 2 ]", "[ 3.0, 2, 2 ]", "npus_count[0]"),
    ("[ 3, 2, 2 ]", "[ 3, two, 2 ]", "npus_count[1]"),
    ("[ 3, 2, 2 ]", "[ 300, 300, 2 ]", "180000 racks"),
    ("[ 3, 2, 2 ]", "[ 3, 9000, 2 ]", "1000000 links"),
    ("bandwidth: [ 4.0,", "bandwidth: [ 0,", "bandwidth[0]"),
    ("bandwidth: [ 4.0,", "bandwidth: [ -4,", "bandwidth[0]"),
    ("bandwidth: [ 4.0,", "bandwidth: [ .nan,", "bandwidth[0]"),
    ("bandwidth: [ 4.0,", "bandwidth: [ 1e400,", "bandwidth[0]"),
    ("bandwidth: [ 4.0,", "bandwidth: [ 99999, ", "bandwidth"),
    ("latency: [ 10,", "latency: [ -1,", "latency[0]"),
    ("latency: [ 10,", "latency: [ 1e30,", "latency[0]"),
    ("latency: [ 10,", "latency: [ true,", "latency[0]"),
    ("latency", "delay", "latency"),
    ("bandwidth: [ 4.0,", "latency: [ 1, 1, 1 ]\nbandwidth: [ 4.0,", "'latency' comes twice"),
]
HTSIM_MISTAKES = [
    ("Nodes 16", "Nodes", "line 2, nodes"),
    ("Nodes 16", "Nodes 16.5", "line 2, nodes"),
    ("Nodes 16", "Nodes -16", "line 2, nodes"),
    ("Nodes 16", "Nodes 99999", "line 2, nodes"),
    ("Nodes 16\n", "", "Nodes"),
    ("Nodes 16", "Nodes 20", "Podsize"),
    ("Tiers 3", "Tiers 2", "Tiers is 2"),
    ("Tiers 3", "Tiers 4", "Tiers is 4"),
    ("Tier 2", "Tier 3", "tier"),
    ("Tier 2", "Tier 1", "tier comes twice"),
    ("Tier 1\n", "", "line 12"),
    ("Podsize 8", "Podsize 16", "tier 1"),
    ("Podsize 8", "Podsize 7", "Podsize"),
    ("Radix_Down 4\nRadix_Up 2", "Radix_Down 4\nRadix_Up 4", "tier 0"),
    ("Radix_Down 4\nRadix_Up 2", "Radix_Up 2", "radix_down"),
    ("Oversubscribed 2", "Oversubscribd 2", "line 10"),
    ("Oversubscribed 2\n", "", "Oversubscribed"),
    ("Oversubscribed 2", "Bundle 2\nOversubscribed 2", "Bundle"),
    ("Downlink_Latency_ns 300", "Downlink_Latency_ns 3 00", "downlink_latency_ns"),
    ("Downlink_Latency_ns 300\n", "", "downlink_latency_ns"),
    ("Bundle 2", "Bundle 3", "tier 2"),
    ("Bundle 2", "Bundle 2\nBundle 2", "bundle comes twice"),
]
INFRAGRAPH_MISTAKES = [
    ("edges:\n- ep1", "connections:\n- ep1", "InfraGraph 2.x"),
    ("edges:\n- ep1", "infrastructure: x\nedges:\n- ep1", "InfraGraph 2.x"),
    ("scheme: many2many", "scheme: ring", "edges[2].scheme"),
    ("  scheme: many2many\n", "", "edges[2].scheme"),
    ("link: up", "link: sideways", "'sideways'"),
    ("  link: up\n", "", "edges[2].link"),
    ('"leaf[0]"', '"leaf[2]"', "0..1"),
    ('"leaf[0]"', '"leaf[-1]"', "edges[0].ep2"),
    ('"leaf[0]"', '"leaf[0"', "edges[0].ep2"),
    ('"leaf[0]"', '"leaf[]"', "edges[0].ep2"),
    ('"leaf[0]"', '"leaf[0:1:1:1]"', "edges[0].ep2"),
    ('"leaf[0]"', "[leaf]", "edges[0].ep2.instance"),
    ('"leaf[0]"', '"roof[0]"', "'roof'"),
    ('"port[0:8:2]"', '"port[0:8:0]"', "edges[0].ep2"),
    ('"port[0:8:2]"', '"port[8:0]"', "edges[0].ep2"),
    ('"port[0:8:2]"', '"port[0:8:4]"', "one2one joins 4 components to 2"),
    ('"port[0:8:2]"', '"plug[0:8:2]"', "'plug'"),
    ('"cx7[0].port[0]"', '"cx7[0].nic[0]"', "'nic'"),
    ('"cx7[0].port[0]"', '"xpu[0].port[0]"', "'port'"),
    ('"cx7[0].port[0]"', '"cx7[0]' + ".port" * 50 + '"', "dots"),
    ("choice: xpu", "choice: cpu", "xpu"),
    ("count: 4}", "count: 99999}", "99999 racks"),
    ("count: 4}", "count: 0}", "instance host.count"),
    ("count: 4}", 'count: "4"}', "instance host.count"),
    ("device: server", "device: serve", "'serve'"),
    ("{name: cx7, choice: device", "{name: cx9, choice: device", "device server.cx9"),
    ("name: spine", "name: leaf", "instances[2]"),
    ("name: spine", "nome: spine", "instances[2].name"),
    ("instances:\n", "instances: {}\nothers:\n", "instances"),
    ("gigabytes_per_second: 50}", "gigabytes_per_second: none}", "gigabytes_per_second"),
    ("choice: gigabytes_per_second", "choice: gigatransfers_per_second", "gigatransfers"),
    ("    bandwidth: {choice: gigabits", "    width: {choice: gigabits", "link up.bandwidth"),
    ("gigabits_per_second: 800", "gigabits_per_second: 0", "link up.bandwidth"),
    ("gigabits_per_second: 800", "gigabits_per_second: 9e9", "link up.bandwidth"),
    ("us: 0.5", "us: -0.5", "link down.latency"),
    ("latency: {choice: us, us: 0.5}", "latency: 5", "link down.latency"),
    ("choice: us", "choice: s", "link down.latency.choice"),
    ('"leaf[0]", component: "port[0:8:2]"', '"host[1]", component: "cx7.port"', "directly"),
    ("edges:\n- ep1", "edges:\n- 7\n- ep1", "edges[0]"),
]
MISTAKES = [
    *(("astra.yml", ASTRA, *one) for one in ASTRA_MISTAKES),
    *(("tree.topo", HTSIM, *one) for one in HTSIM_MISTAKES),
    *(("rails.yaml", INFRAGRAPH, *one) for one in INFRAGRAPH_MISTAKES),
]


@pytest.mark.parametrize(("name", "text", "old", "new", "place"), MISTAKES)
def test_a_mistake_is_told_with_its_place(
    name: str, text: str, old: str, new: str, place: str, tmp_path: Path
) -> None:
    assert text.count(old) >= 1
    assert place in refused(tmp_path, name, text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("none.yml", b""),
        ("text.yml", b"hello"),
        ("list.yml", b"[1, 2]"),
        ("other.yml", b"a: b"),
        ("other.json", b'{"a": 1}'),
        ("list.json", b"[]"),
        ("half.json", b'{"a": '),
        ("twice.json", b'{"topology": [], "topology": []}'),
        ("deep.json", b"[" * 200_000),
        ("deep.yml", b"[" * 200_000),
        ("levels.yml", b"- " * 200_000),
        ("keys.yml", b"? " * 200_000),
        ("digits.json", b'{"topology": ' + b"9" * 9_000 + b"}"),
        ("binary.yml", bytes(range(256))),
        ("zeros.yml", bytes(500)),
        ("latin.yml", "topology: é".encode("latin-1")),
        ("empty.topo", b""),
        ("two.yml", b"a: b\n---\na: b\n"),
        ("odd.yml", b"topology: [Ring\nnpus_count: }"),
        ("tag.yml", b"!!python/object/apply:os.system ['true']"),
        ("date.yml", b"topology: 2024-99-99\nnpus_count: 12:30:45"),
        ("key.yml", b"? [a]\n: b\n"),
        ("word.yml", b"topology: " + b"1:" * 9_000 + b"1"),
        ("long.yml", b"#" * (16 << 20) + b"\n"),
    ],
)
def test_what_is_no_topology_is_refused_at_once(name: str, content: bytes, tmp_path: Path) -> None:
    begin = time.process_time()
    refused(tmp_path, name, content)
    assert time.process_time() - begin < 10


def test_aliases_cannot_blow_up(tmp_path: Path) -> None:
    """Nine levels of nine aliases would be 3 GB of text."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 10)]
    tracemalloc.start()
    assert "alias" in refused(tmp_path, "bomb.yml", "\n".join(levels))
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a\nb.yml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(ThzSyncError) as caught:
        read_wires(path)
    assert "\n" not in str(caught.value)


def test_a_rack_out_of_reach_is_named(tmp_path: Path) -> None:
    text = INFRAGRAPH.replace("link: up", "link: up").split("- ep1")
    alone = "- ep1".join(text[:-1])  # two rails without spines still reach all
    (tmp_path / "a.yaml").write_text(alone)
    assert read_wires(tmp_path / "a.yaml").racks == 4
    half = "- ep1".join(text[:2]).replace('"host"', '"host[0:3]"').replace("[0:8:2]", "[0:3]")
    assert "rack 3" in refused(tmp_path, "b.yaml", half)


def test_storage_with_many_nics_is_no_switch(tmp_path: Path) -> None:
    devices = "devices:\n- {name: store, components: [{name: nic, choice: nic, count: 2}]}\n"
    text = INFRAGRAPH.replace("devices:\n", devices)
    text = text.replace("instances:\n", "instances:\n- {name: disk, device: store, count: 1}\n")
    assert "instance disk" in refused(tmp_path, "a.yaml", text)


def test_edges_that_mean_too_much_are_refused_before_they_are_made(tmp_path: Path) -> None:
    """Slices are short to write: a few bytes mean 10^18 links, or a million of them many times."""
    document = {
        "devices": [
            {"name": "s", "components": [{"name": "p", "choice": "xpu", "count": 2**31 - 1}]},
            {"name": "b", "components": [{"name": "p", "choice": "port", "count": 2**31 - 1}]},
        ],
        "instances": [
            {"name": "s", "device": "s", "count": 60_000},
            {"name": "b", "device": "b", "count": 2**31 - 1},
        ],
        "links": [{"name": "l", "physical": {"bandwidth": {
            "choice": "gigabits_per_second", "gigabits_per_second": 1}}}],
    }  # fmt: skip
    for scheme in ("one2one", "many2many"):
        for last, times in ((2**31 - 1, 1), (1_000, 50_000)):
            ends = [{"instance": f"{name}[0]", "component": f"p[0:{last}]"} for name in "sb"]
            edge = {"ep1": ends[0], "ep2": ends[1], "scheme": scheme, "link": "l"}
            begin = time.process_time()
            text = json.dumps({**document, "edges": [edge] * times})
            assert "too many" in (said := refused(tmp_path, "a.json", text)) or "1000000" in said
            assert time.process_time() - begin < 30


def test_large_lists_take_no_longer_than_they_are(tmp_path: Path) -> None:
    """Many instances of a device with many components, and many edges."""
    parts = [{"name": f"p{k}", "choice": "port", "count": 1} for k in range(20_000)]
    document = {
        "devices": [
            {"name": "b", "components": parts},
            {"name": "s", "components": [{"name": "x", "choice": "xpu", "count": 1}]},
        ],
        "instances": [
            *({"name": f"i{k}", "device": "b", "count": 1} for k in range(20_000)),
            {"name": "s", "device": "s", "count": 20_000},
        ],
        "links": [{"name": "l", "physical": {"bandwidth": {
            "choice": "gigabits_per_second", "gigabits_per_second": 1}}}],
        "edges": [
            {"ep1": {"instance": f"s[{k}]", "component": "x"},
             "ep2": {"instance": "i7", "component": f"p{k}"}, "scheme": "one2one", "link": "l"}
            for k in range(20_000)
        ],
    }  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    begin = time.process_time()
    wires = read_wires(path)
    assert (wires.racks, wires.switch_names, len(wires.ends)) == (20_000, ["i7 0"], 40_000)
    assert time.process_time() - begin < 30


def test_tables_that_do_not_fit_into_memory_are_refused() -> None:
    wires = Wires(2)
    wires.switch_names = ["s"] * 1_000_000
    with pytest.raises(ThzSyncError, match=r"1000000 switches.*memory"):
        wires.network(Buffers())
