"""What is written as Chakra is read again: by this package, and by protobuf's own decoder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.importers.wire import frames, put_bytes, put_frame, put_int
from thzsync.cli import main
from thzsync.collectives import Tensor, Transfer
from thzsync.importers import import_trace
from thzsync.importers.chakra import export_chakra
from thzsync.scenario import Scenario
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import Compute, Event, Phase, TrainingGraph, scenario_graph
from thzsync.workload.tracefile import Trace, write_trace
from thzsync.workload.volumes import traffic_matrix


def generated(preset: str) -> TrainingGraph:
    scenario = Scenario.preset(preset)
    return scenario_graph(scenario, Topology(scenario.floor), Streams(0))


def read_back(graph: TrainingGraph, folder: Path) -> TrainingGraph:
    export_chakra(graph).write(folder)
    return import_trace(sorted(folder.glob("*.et"))).trace.graph


def moved(graph: TrainingGraph) -> Counter[str]:
    totals: Counter[str] = Counter()
    for event in graph.events:
        totals[event.kind] += event.payload_bytes
    return totals


@pytest.mark.parametrize("preset", ["tiny", "paper"])
def test_a_generated_iteration_comes_back_with_its_bytes_and_its_length(
    preset: str, tmp_path: Path
) -> None:
    graph = generated(preset)
    again = read_back(graph, tmp_path)
    assert moved(again) == moved(graph)
    for communication_s in (0.0, 0.01):
        expected = pytest.approx(graph.critical_path_s(communication_s), rel=1e-12)
        assert again.critical_path_s(communication_s) == expected
    racks = graph.rack_count or 0
    assert (traffic_matrix(again, racks) == traffic_matrix(graph, racks)).all()
    assert {(e.stage, e.phase, e.microbatch) for e in again.events} == {
        (e.stage, e.phase, e.microbatch) for e in graph.events
    }


def test_every_collective_keeps_its_root_its_parts_and_its_odd_bytes(tmp_path: Path) -> None:
    racks = Transfer.of([0, 1, 2], [1, 2, 0], [1, 2, 3]).src
    demands = {
        "a2a": Transfer.of([0, 0, 2], [1, 2, 1], [7, 8, 9]),
        "allreduce": Tensor(1001),
        "all-gather": Tensor(1001),
        "reduce-scatter": Tensor(1001),
        "broadcast": Tensor(1001, 2),
        "reduce": Tensor(1001, 1),
        "gather": Tensor(1001, 0),
        "scatter": Tensor(1001, 2),
        "barrier": Tensor(0),
    }
    nodes = [
        Event(
            n, "train", kind, 0, Phase.FORWARD, 0, kind, racks, demand, (n - 1,) if n else (), 0.5
        )
        for n, (kind, demand) in enumerate(demands.items())
    ]
    again = read_back(TrainingGraph(tuple(nodes)), tmp_path)
    assert [event.kind for event in again.events] == list(demands)
    for event in again.events:
        expected = demands[event.kind]
        assert event.release_s == 0.5
        if isinstance(expected, Tensor):
            assert event.demand == expected
        else:
            assert isinstance(event.demand, Transfer)
            assert event.demand.size_bytes.tolist() == [7, 8, 9]


def test_what_joins_racks_that_share_no_node_is_counted_as_lost() -> None:
    one, two = (Transfer.of([r], [r], [0]).src for r in (0, 1))
    nodes = (
        Compute(0, "train", 0, Phase.FORWARD, 0, one, 1.0, ()),
        Compute(1, "train", 0, Phase.FORWARD, 0, two, 1.0, (0,)),
    )
    assert export_chakra(TrainingGraph(nodes)).lost == 1


def plain_decoder() -> tuple[Any, Any]:
    """Classes that protobuf builds from the published field numbers."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    string, uint64, int64, int32, boolean, enum = 9, 4, 3, 5, 8, 5
    tables = {
        "Attribute": [
            ("name", 1, string, 1), ("int32_val", 7, int32, 1), ("int64_val", 9, int64, 1),
            ("bool_val", 27, boolean, 1), ("string_val", 29, string, 1),
        ],
        "Metadata": [("version", 1, string, 1), ("attr", 2, ".Chakra.Attribute", 3)],
        "Node": [
            ("id", 1, uint64, 1), ("name", 2, string, 1), ("type", 3, enum, 1),
            ("data_deps", 5, uint64, 3), ("duration_micros", 7, uint64, 1),
            ("attr", 10, ".Chakra.Attribute", 3),
        ],
    }  # fmt: skip
    file = descriptor_pb2.FileDescriptorProto(name="c.proto", package="Chakra", syntax="proto3")
    for name, fields in tables.items():
        message = file.message_type.add(name=name)
        for key, number, kind, label in fields:
            field = message.field.add(name=key, number=number, label=label)
            if isinstance(kind, str):
                field.type, field.type_name = 11, kind
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"Chakra.{n}")) for n in tables
    )
    _, metadata, node = made
    return metadata, node


def test_a_plain_protobuf_decoder_reads_what_we_write() -> None:
    metadata, node = plain_decoder()
    content = export_chakra(generated("tiny")).files["trace.0.et"]
    first, *others = frames(content)
    assert metadata.FromString(first).version == "1.0.0"
    nodes = [node.FromString(message) for message in others]
    assert Counter(n.type for n in nodes) == {4: 6, 5: 3, 6: 3, 7: 2}
    collective = next(n for n in nodes if n.type == 7)
    values = {a.name: a.int64_val for a in collective.attr}
    assert (values["comm_type"], values["comm_size"]) == (0, 6 * 2**20)
    assert {d for n in nodes for d in n.data_deps} <= {n.id for n in nodes}
    assert {n.duration_micros for n in nodes if n.type == 4} == {2000, 4000}


def test_sends_and_receives_have_the_types_that_chakras_own_feeder_reads() -> None:
    """It reads ends and tag from int32_val, the size from int64_val, and the host's share from
    bool_val, which it takes for true where there is none."""
    _, node = plain_decoder()
    graph = generated("tiny")
    read = set()
    for rack in range(6):
        content = export_chakra(graph).files[f"trace.{rack}.et"]
        for message in list(frames(content))[1:]:
            found = node.FromString(message)
            told = {attribute.name: attribute for attribute in found.attr}
            assert told["is_cpu_op"].bool_val is False
            if found.type in (5, 6):
                ends = told["comm_src"].int32_val, told["comm_dst"].int32_val
                read.add(
                    (found.type, *ends, told["comm_tag"].int32_val, told["comm_size"].int64_val)
                )
    sent = {
        (kind, src, dst, event.id, size)
        for event in graph.events
        if isinstance(demand := event.demand, Transfer) and event.kind == "p2p"
        for src, dst, size in zip(demand.src, demand.dst, demand.size_bytes, strict=True)
        for kind in (5, 6)
    }
    assert read == sent


@pytest.mark.parametrize("field", [7, 9])
def test_ends_and_tags_are_read_from_either_type(field: int, tmp_path: Path) -> None:
    for rank, kind in ((0, 5), (1, 6)):
        ends = {"comm_src": 0, "comm_dst": 1, "comm_tag": 3}
        attributes = b"".join(
            put_bytes(10, put_bytes(1, name.encode()) + put_int(field, value))
            for name, value in ends.items()
        )
        size = put_bytes(10, put_bytes(1, b"comm_size") + put_int(9, 4096))
        node = put_int(1, 0) + put_bytes(2, b"message") + put_int(3, kind) + attributes + size
        content = put_frame(put_bytes(1, b"1.0.0")) + put_frame(node)
        (tmp_path / f"t.{rank}.et").write_bytes(content)
    (event,) = import_trace(sorted(tmp_path.glob("*.et"))).trace.graph.events
    assert isinstance(event.demand, Transfer)
    assert (*event.demand.src, *event.demand.dst, *event.demand.size_bytes) == (0, 1, 4096)


def test_the_command_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "job.trace", tmp_path / "chakra"
    write_trace(file, Trace(generated("tiny"), 6))
    assert main(["trace", "export", str(file), "--out", str(folder)]) == 0
    assert len(list(folder.iterdir())) == 7
    assert " 7 " in capsys.readouterr().err
    again = ["trace", "export", str(file), "--out", str(folder)]
    assert main(again) == 2
    assert "--force" in capsys.readouterr().err
    stale = folder / "trace.31.et"
    stale.touch()
    assert main([*again, "--force"]) == 0
    assert not stale.exists()
    assert main([*again, "--format", "xml"]) == 2
    assert "'xml'" in capsys.readouterr().err
