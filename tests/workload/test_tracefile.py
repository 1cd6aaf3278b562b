from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workload.strategies import jobs
from thzsync.collectives import Tensor
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario, Training
from thzsync.streams import Streams
from thzsync.topology import Partition, Topology
from thzsync.workload import Compute, Event, Node, TrainingGraph, scenario_graph, training_graph
from thzsync.workload.tracefile import Trace, read_trace, write_trace

Records = list[dict[str, Any]]


def tiny() -> Trace:
    scenario = Scenario.preset("tiny")
    topology = Topology(scenario.floor)
    return Trace(scenario_graph(scenario, topology, Streams(0)), topology.racks, {"seed": 0})


def assert_same_node(a: Node, b: Node) -> None:
    assert type(a) is type(b)
    for field in ("id", "job", "stage", "phase", "microbatch", "after"):
        assert getattr(a, field) == getattr(b, field)
    np.testing.assert_array_equal(a.racks, b.racks)
    if isinstance(a, Compute) and isinstance(b, Compute):
        assert a.duration_s == b.duration_s
    if isinstance(a, Event) and isinstance(b, Event):
        assert (a.kind, a.label, a.release_s) == (b.kind, b.label, b.release_s)
        if isinstance(a.demand, Tensor) or isinstance(b.demand, Tensor):
            assert a.demand == b.demand
        else:
            for column in ("src", "dst", "size_bytes"):
                np.testing.assert_array_equal(getattr(a.demand, column), getattr(b.demand, column))


def assert_same_graph(a: TrainingGraph, b: TrainingGraph) -> None:
    assert len(a.nodes) == len(b.nodes)
    for x, y in zip(a.nodes, b.nodes, strict=True):
        assert_same_node(x, y)


@given(job=jobs(), name=st.text(st.characters(exclude_categories=["Cs"])))
def test_a_trace_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, job: tuple[Training, Partition], name: str
) -> None:
    training, partition = job
    partition = Partition(name, partition.racks)
    graph = training_graph(training, partition, Streams(1))
    file = tmp_path_factory.mktemp("trace") / "trace.jsonl.gz"
    write_trace(file, Trace(graph, int(partition.racks.max()) + 1, {"name": name}))
    back = read_trace(file)
    assert_same_graph(graph, back.graph)
    assert back.origin == {"name": name}


def test_equal_graphs_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_trace(tmp_path / name, tiny())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_file_is_json_lines_in_gzip(tmp_path: Path) -> None:
    write_trace(tmp_path / "t", tiny())
    lines = gzip.decompress((tmp_path / "t").read_bytes()).decode().splitlines()
    header = json.loads(lines[0])
    assert (header["format"], header["version"], header["racks"]) == ("thzsync-trace", 1, 6)
    assert header["nodes"] == len(lines) - 1
    assert [json.loads(line)["id"] for line in lines[1:]] == list(range(header["nodes"]))


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t"
    write_trace(file, tiny())
    before = file.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(ThzSyncError, match=r"t: .*\(No space left on device\)"):
        write_trace(file, tiny())
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_write_follows_a_link_and_spares_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_trace(tmp_path / "link", tiny())
    assert (tmp_path / "link").is_symlink()
    assert read_trace(tmp_path / "real").rack_count == 6
    with pytest.raises(ThzSyncError, match=f"^{tmp_path}: "):
        write_trace(tmp_path, tiny())
    with pytest.raises(ThzSyncError, match=f"^{tmp_path}"):
        write_trace(tmp_path / "real" / "file", tiny())


def rewritten(path: Path, change: Callable[[Records], object]) -> Path:
    write_trace(path, tiny())
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(records)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    return path


def set_in(kind: str, key: str, value: object) -> Callable[[Records], object]:
    def change(records: Records) -> None:
        next(r for r in records[1:] if r["node"] == kind)[key] = value

    return change


BAD: dict[str, tuple[Callable[[Records], object], str]] = {
    "cycle": (
        lambda r: (r[1]["after"].append(1), r[2]["after"].append(0)),
        r"cycle: (compute|event) \d",
    ),
    "missing predecessor": (set_in("p2p", "after", [999]), r"event \d+ .*waits for node 999"),
    "unknown rack": (set_in("p2p", "racks", [0, 77]), r"event \d+ .*: rack 77\b"),
    "unknown rack of compute": (set_in("compute", "racks", [77]), r"compute 0 .*rack 77 does not"),
    "negative size": (set_in("allreduce", "tensor_bytes", -4), r"event \d+ .*negative size -4"),
    "negative transfer": (
        set_in("p2p", "bytes", [1, -2, 3]),
        r"event \d+ .*negative size -2 bytes",
    ),
    "ragged": (set_in("a2a", "bytes", [1]), r"event \d+ .*same length"),
    "negative duration": (set_in("compute", "duration_s", -1), r"compute 0 .*duration is -1 s"),
    "not a number": (set_in("compute", "duration_s", float("nan")), r"duration_s: found NaN"),
    "text for number": (set_in("compute", "stage", "one"), r"stage: found \"one\"; "),
    "truth for number": (
        set_in("compute", "stage", True),
        r"stage: found true; ",
    ),
    "huge number": (set_in("compute", "stage", 2**70), r"stage: found \d+; "),
    "number for text": (
        set_in("p2p", "label", 3),
        r"event \d+\): label: found 3; ",
    ),
    "text for list": (set_in("p2p", "src", "0"), r"src: found \"0\"; .*list"),
    "unknown node": (set_in("p2p", "node", "gossip"), r"node: found \"gossip\"; "),
    "unknown phase": (set_in("p2p", "phase", "up"), r"phase: found \"up\"; .*forw"),
    "missing key": (
        lambda r: r[1].pop("job"),
        r"line 2 \(compute 0\): job: found nothing; ",
    ),
    "not a table": (lambda r: r.__setitem__(1, 7), r"line 2: "),
    "wrong version": (
        lambda r: r[0].update(version=2),
        r"version 2; .*1",
    ),
    "another format": (lambda r: r[0].update(format="x"), "`thzsync trace generate`"),
    "bad origin": (lambda r: r[0].update(origin=3), r"origin: found 3; "),
    "a stage beyond a record's columns": (
        set_in("compute", "stage", 2**31),
        r"stage: found 2147483648; .* 2147483647",
    ),
    "a micro-batch beyond them": (set_in("p2p", "microbatch", 2**40), r"microbatch: found 1099511"),
    "an endless task": (set_in("compute", "duration_s", 1e300), r"duration_s: found 1e\+300; "),
    "a time of 400 digits": (set_in("p2p", "release_s", 10**400), r"release_s: found 1000"),
    "more bytes than all disks": (set_in("p2p", "bytes", [2**52] * 3), r"bytes: "),
    "a repeated line": (lambda r: r.__setitem__(2, r[1]), r"id: found 0; .*\b1\b"),
    "more lines than promised": (
        lambda r: r.append(r[-1]),
        r" 34 nodes",
    ),
    "lost line": (lambda r: r.pop(), r"\b33 of 34 nodes"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_by_file_and_event_in_one_line(tmp_path: Path, case: str) -> None:
    change, message = BAD[case]
    file = rewritten(tmp_path / "bad.jsonl.gz", change)
    with pytest.raises(ThzSyncError, match=message) as caught:
        read_trace(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path, share: float) -> None:
    file = tmp_path / "t"
    write_trace(file, tiny())
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ThzSyncError, match=str(file)):
        read_trace(file)


@given(st.data())
def test_a_damaged_byte_never_causes_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("trace") / "t"
    write_trace(file, tiny())
    content = bytearray(file.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(bytes(content))
    try:
        back = read_trace(file)
    except ThzSyncError:
        return
    assert_same_graph(back.graph, tiny().graph)  # a byte of gzip's header that says nothing


@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        gzip.compress(b"\xff\xfe", mtime=0),
    ],
)
def test_something_else_is_no_trace(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ThzSyncError, match=f"^{tmp_path / 'x'}: "):
        read_trace(tmp_path / "x")


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match=r"`thzsync trace generate --out"):
        read_trace(tmp_path / "nope")
    with pytest.raises(ThzSyncError, match=r"\(Is a directory\)"):
        read_trace(tmp_path)


def bomb(path: Path, start: bytes, block: bytes, count: int) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as packed:
        packed.write(start)
        for _ in range(count):
            packed.write(block)
    return path


def test_a_file_that_unpacks_to_gigabytes_is_refused_before_it_does(tmp_path: Path) -> None:
    header = b'{"format":"thzsync-trace","version":1,"racks":6,"nodes":2000000000}\n'
    node = b'{"node":"compute","id":0,"job":"j","stage":0,"phase":"forward","microbatch":0,'
    node += b'"racks":[0],"after":[],"duration_s":0}\n'
    for name, block in (
        ("zeros", bytes(2**20)),
        ("nodes", node * 10_000),
        ("lines", b"\n" * 2**20),
    ):
        file = bomb(tmp_path / name, header, block, 300)
        tracemalloc.start()
        with pytest.raises(ThzSyncError):
            read_trace(file)
        assert tracemalloc.get_traced_memory()[1] < 600 * 2**20
        tracemalloc.stop()
