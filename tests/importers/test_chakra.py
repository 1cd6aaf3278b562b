"""Chakra: the traps of real files, and the editions of the schema."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.importers.files import (
    collective,
    integer,
    node,
    receive,
    send,
    shared,
    text,
    write_chakra,
)
from tests.importers.wire import put_bytes, put_frame, put_int
from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.importers import Imported, Placement, ReadOptions, import_trace
from thzsync.importers.bounded import rank_in_name

MIB = 2**20


def kinds(imported: Imported) -> Counter[str]:
    return Counter(event.kind for event in imported.trace.graph.events)


@pytest.mark.parametrize(
    ("folder", "kind", "moved"),
    [
        ("all_reduce", "allreduce", MIB),
        ("reduce_scatter", "reduce-scatter", MIB),
        ("all_gather", "all-gather", 4 * MIB),  # every rank hands in one MiB of the whole
        ("all_to_all", "a2a", 3 * MIB),  # a quarter of every rank's MiB stays at home
    ],
)
def test_a_microbenchmark_is_one_collective_of_a_mebibyte(
    folder: str, kind: str, moved: int
) -> None:
    imported = import_trace(shared(f"astra_micro/{folder}/*/*.et"))
    (event,) = imported.trace.graph.events
    assert (event.kind, event.payload_bytes, event.racks.tolist()) == (kind, moved, [0, 1, 2, 3])


def test_a_ring_of_sends_and_receives_moves_although_everybody_sends_first() -> None:
    imported = import_trace(shared("astra_custom_ring/*.et"))
    graph = imported.trace.graph
    assert kinds(imported) == {"p2p": 112}
    assert {event.payload_bytes for event in graph.events} == {128 * 1024}
    # Fourteen hops, one after another, with seven reductions of 7 us between them.
    assert graph.critical_path_s(1.0) == pytest.approx(14 + 7 * 7e-6)


def test_the_mixture_of_experts_counts_elements_and_finds_its_groups_beside_it() -> None:
    imported = import_trace(shared("stg_gen_moe_dp2_ep4_pp2/*.et"), placement=Placement(stages=2))
    graph = imported.trace.graph
    # 32 All-to-All per rank in groups of four, of 16 ranks.
    assert kinds(imported) == {"a2a": 128, "all-gather": 96, "p2p": 64, "allreduce": 72}
    handover = next(event for event in graph.events if event.kind == "p2p")
    assert handover.payload_bytes == 16777216 * 2
    assert imported.trace.rack_count == 16
    assert {e.microbatch for e in graph.events if e.kind == "p2p"} == {0, 1, 2, 3}


def test_one_real_rank_stands_for_both() -> None:
    imported = import_trace(shared("chakra_test/chakra.0.et"), options=ReadOptions(world=2))
    sizes = [e.payload_bytes for e in imported.trace.graph.events if e.kind == "allreduce"]
    assert sorted(sizes) == [8196000, 9724160, 26255360, 26550272, 31502336]
    assert kinds(imported)["broadcast"] == 2
    # Its control dependencies are a call stack in which nodes name themselves and each other.
    assert imported.passed_over["call-stack dependencies"] > 1277


def test_the_first_edition_has_no_metadata_and_other_numbers() -> None:
    imported = import_trace(shared("legacy/*.eg"))
    assert imported.trace.graph.critical_path_s() == pytest.approx(10e-6)


def test_numbers_of_collectives_moved_between_editions(tmp_path: Path) -> None:
    def early(name: str, value: int) -> bytes:
        return put_bytes(11, put_bytes(1, name.encode()) + put_int(2, 2) + put_int(7, value))

    message = put_int(1, 1) + put_int(3, 7) + early("comm_type", 1) + early("comm_size", 800)
    paths = write_chakra(tmp_path, [message], [message])
    (event,) = import_trace(paths).trace.graph.events
    assert event.kind == "a2a"  # 1 means reduce today

    first = put_int(1, 1) + put_int(3, 6) + put_int(13, 1) + put_int(18, 800)
    for path in paths:
        path.write_bytes(put_frame(first))
    (event,) = import_trace(paths).trace.graph.events
    assert event.kind == "allreduce"


def test_a_type_that_is_absent_on_the_wire_is_an_allreduce(tmp_path: Path) -> None:
    untold = put_bytes(10, put_bytes(1, b"comm_type"))
    message = node(0, 7, untold, integer("comm_size", 64))
    (event,) = import_trace(write_chakra(tmp_path, [message], [message])).trace.graph.events
    assert event.kind == "allreduce"


def test_gzip_is_noticed(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [collective(0, 0, 64)], [collective(0, 0, 64)])
    for path in paths:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert kinds(import_trace(paths)) == {"allreduce": 1}


def test_group_zero_means_everybody_unless_a_group_file_knows_better(tmp_path: Path) -> None:
    message = node(0, 7, integer("comm_size", 64), text("pg_name", "0"))
    idle = node(0, 4, micros=1)
    paths = write_chakra(tmp_path, [message], [message], [message])
    (event,) = import_trace(paths).trace.graph.events
    assert event.racks.tolist() == [0, 1, 2]

    write_chakra(tmp_path, [message], [message], [idle])
    groups = tmp_path / "groups.json"
    groups.write_text('{"0": [0, 1]}')
    (event,) = import_trace(paths, options=ReadOptions(groups=groups)).trace.graph.events
    assert event.racks.tolist() == [0, 1]


def test_pytorch_keeps_its_groups_in_a_metadata_node(tmp_path: Path) -> None:
    said = json.dumps([{"pg_name": "7", "ranks": [0, 2]}, {"pg_name": "8", "ranks": []}])
    told = node(9, 1, put_bytes(8, put_bytes(1, f"['{said}']".encode())))
    told = told.replace(put_bytes(2, b"n9"), put_bytes(2, b"## process_group:init ##"))
    pair = node(0, 7, integer("comm_size", 64), text("pg_name", "7"))
    world = node(1, 7, integer("comm_size", 64), text("pg_name", "8"))
    imported = import_trace(
        write_chakra(tmp_path, [told, pair, world], [told, world], [told, pair, world])
    )
    assert sorted(e.racks.tolist() for e in imported.trace.graph.events) == [[0, 1, 2], [0, 2]]
    assert imported.passed_over == {"metadata nodes": 3}


def test_unknown_fields_and_names_that_are_not_utf8_are_no_reason_to_refuse(tmp_path: Path) -> None:
    unknown = put_int(6, 5) + put_bytes(9, b"\xff") + put_bytes(200, b"new")
    double = put_bytes(10, put_bytes(1, b"comm_note") + put_bytes(31, b"\xff"))
    odd = node(0, 4, unknown, double, micros=5).replace(b"n0", b"\xffx")
    imported = import_trace(write_chakra(tmp_path, [odd, node(1, 4, after=(0,), micros=5)]))
    assert imported.trace.graph.critical_path_s() == pytest.approx(10e-6)


def test_unknown_nodes_are_passed_over_and_counted_but_keep_their_place(tmp_path: Path) -> None:
    rank = [node(0, 4, micros=5), node(1, 99, after=(0,)), node(2, 4, after=(1,), micros=5)]
    imported = import_trace(write_chakra(tmp_path, rank))
    assert imported.passed_over == {"type 99 nodes": 1}
    assert imported.trace.graph.critical_path_s() == pytest.approx(10e-6)


def test_a_dependency_on_an_absent_node_is_satisfied_and_order_in_the_file_is_free(
    tmp_path: Path,
) -> None:
    rank = [node(5, 4, after=(3, 77), micros=1), node(3, 4, micros=2)]
    imported = import_trace(write_chakra(tmp_path, rank))
    assert list(imported.passed_over.values()) == [1]
    assert imported.trace.graph.critical_path_s() == pytest.approx(3e-6)


def test_a_rank_that_comes_late_to_a_collective_is_waited_for(tmp_path: Path) -> None:
    soon = [node(0, 4, micros=1), collective(1, 0, 64, after=(0,))]
    late = [node(0, 4, micros=9), collective(1, 0, 64, after=(0,))]
    graph = import_trace(write_chakra(tmp_path, soon, late)).trace.graph
    times = graph.times(1.0)
    assert times.start_s[graph.events[0].id] == pytest.approx(9e-6)


def test_messages_are_paired_by_ends_and_tag_not_by_order(tmp_path: Path) -> None:
    sender = [send(0, 1, 10, tag=1), send(1, 1, 20, tag=2)]
    receiver = [receive(0, 0, 20, tag=2), receive(1, 0, 10, tag=1)]
    imported = import_trace(write_chakra(tmp_path, sender, receiver))
    demands = [event.demand for event in imported.trace.graph.events]
    assert sorted(int(d.size_bytes[0]) for d in demands if isinstance(d, Transfer)) == [10, 20]


def test_a_late_receiver_delays_itself_and_not_the_transfer(tmp_path: Path) -> None:
    receiver = [
        node(0, 4, micros=9),
        receive(1, 0, 10, after=(0,)),
        node(2, 4, after=(1,), micros=1),
    ]
    graph = import_trace(write_chakra(tmp_path, [send(0, 1, 10)], receiver)).trace.graph
    times = graph.times(1e-6)
    assert times.start_s[graph.events[0].id] == 0
    assert times.makespan_s == pytest.approx(10e-6)


def test_a_root_is_kept_and_named_by_its_rack(tmp_path: Path) -> None:
    message = node(0, 7, integer("comm_type", 5), integer("comm_size", 64), integer("comm_root", 2))
    paths = write_chakra(tmp_path, *[[message]] * 4)
    (event,) = import_trace(paths, placement=Placement(ranks_per_rack=2)).trace.graph.events
    assert event.demand == Tensor(64, 1)


def test_a_trace_that_counts_operations_takes_the_time_of_its_speed(tmp_path: Path) -> None:
    rank = [node(0, 4, integer("num_ops", 6_000_000))]
    imported = import_trace(write_chakra(tmp_path, rank), options=ReadOptions(flops=2e9))
    assert imported.trace.graph.critical_path_s() == pytest.approx(3e-3)


@pytest.mark.parametrize(
    ("name", "rank"),
    [("moe.10.et", 10), ("rank3_step100.json", 3), ("2gpu.rank-1.et.gz", 1), ("trace.et", None)],
)
def test_a_name_tells_its_rank(name: str, rank: int | None) -> None:
    assert rank_in_name(Path(name)) == rank


def test_a_name_of_several_lines_stays_in_one(tmp_path: Path) -> None:
    message = collective(0, 0, 64).replace(put_bytes(2, b"n0"), put_bytes(2, b"a\nb"))
    (event,) = import_trace(write_chakra(tmp_path, [message], [message])).trace.graph.events
    assert event.label == "a b"
    odd = node(0, 7, text("pg_name", "dp")).replace(put_bytes(2, b"n0"), put_bytes(2, b"a\nb"))
    with pytest.raises(ThzSyncError) as caught:
        import_trace(write_chakra(tmp_path, [odd]))
    assert "\n" not in str(caught.value)


def test_files_need_a_rank_in_their_name(tmp_path: Path) -> None:
    for name in ("one.et", "two.et"):
        (tmp_path / name).write_bytes(put_frame(b"") + put_frame(node(0, 4)))
    with pytest.raises(ThzSyncError, match=r"\btrace\.0\.et"):
        import_trace([tmp_path / "one.et", tmp_path / "two.et"])
    twice = [tmp_path / "a.1.et", tmp_path / "b.1.et"]
    for path in twice:
        path.write_bytes(put_frame(b"") + put_frame(node(0, 4)))
    with pytest.raises(ThzSyncError, match=r"rank 1 .*a\.1\.et"):
        import_trace(twice)
