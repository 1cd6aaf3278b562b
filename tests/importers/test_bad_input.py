"""One clear line for each thing that a file can get wrong, and nothing half-written."""

from __future__ import annotations

import gzip
import tracemalloc
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
from tests.importers.wire import put_bytes, put_frame, put_varint
from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.importers import Call, Placement, ReadOptions, Recording, Work, import_trace
from thzsync.importers.imported import merge_ranks


def refused(message: str, paths: list[Path], **settings: ReadOptions) -> None:
    with pytest.raises(ThzSyncError, match=message) as caught:
        import_trace(paths, **settings)
    assert "\n" not in str(caught.value)


def test_a_truncated_file_says_how_far_it_was_read(tmp_path: Path) -> None:
    (path,) = write_chakra(tmp_path, [collective(0, 0, 64), collective(1, 0, 64)])
    path.write_bytes(path.read_bytes()[:-3])
    refused(rf"{path.name}: .*\b40 bytes .*\b37\b", [path])


def test_a_rank_alone_does_not_say_who_everybody_is(tmp_path: Path) -> None:
    (path,) = write_chakra(tmp_path, [collective(0, 0, 64), collective(1, 0, 64)])
    refused("--world", [path])
    imported = import_trace([path], options=ReadOptions(world=8))
    assert [len(event.racks) for event in imported.trace.graph.events] == [8, 8]


def test_a_file_of_another_schema_is_refused(tmp_path: Path) -> None:
    other = put_frame(b"") + put_frame(put_bytes(1, b"no number") + put_bytes(3, b"no type"))
    path = tmp_path / "t.0.et"
    path.write_bytes(other)
    refused(" 0 nodes: .*wire type 2", [path])


def test_a_length_of_two_gigabytes_is_refused_without_memory_for_it(tmp_path: Path) -> None:
    path = tmp_path / "t.0.et"
    path.write_bytes(put_frame(b"") + put_varint(2**31) + b"x" * 100)
    tracemalloc.start()
    refused(r"\b2147483648\b.*\b100\b", [path])
    assert tracemalloc.get_traced_memory()[1] < 5e6
    tracemalloc.stop()


def test_a_length_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.0.et"
    for content in (b"\xff" * 2_000_000, b"\x80"):
        path.write_bytes(content)
        refused(" 0 nodes: .*length", [path])


def test_a_message_longer_than_any_node_is_not_decoded(tmp_path: Path) -> None:
    """A decoded attribute takes fifty times its two bytes."""
    path = tmp_path / "t.0.et"
    path.write_bytes(put_frame(b"") + put_frame(put_bytes(10, b"") * (1 << 23) + b"\x0a\x00"))
    refused(r" 0 nodes: .*\b16777218\b", [path])


def test_more_messages_than_nodes_of_a_step_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thzsync.importers.chakra.nodes._MOST_MESSAGES", 3)
    path = tmp_path / "t.0.et"
    path.write_bytes(bytes(4))
    refused("more than 3", [path])


@pytest.mark.parametrize(
    "damage",
    [put_varint(10 << 3 | 2) + b"\x09abc", b"\x53" * 200, b"\x0e", b"\x00\x00", b"\xff" * 12],
)
def test_a_damaged_message_is_refused(damage: bytes, tmp_path: Path) -> None:
    """A field beyond its message, groups in groups, a wire type or a field number that none has."""
    refused("nodes: found ", write_chakra(tmp_path, [node(0, 4), node(1, 4, damage)]))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7, 10])
def test_a_known_field_of_another_wire_type_is_refused(number: int, tmp_path: Path) -> None:
    """protobuf itself passes over it as if it were unknown."""
    fixed = put_varint(number << 3 | 5) + bytes(4)
    refused("wire type 5", write_chakra(tmp_path, [node(0, 4, fixed)]))


def test_ranks_that_disagree_on_a_collective(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [collective(0, 0, 64)], [collective(0, 2, 64)])
    refused("rank 0 .*allreduce of 64 bytes .*rank 1 all-gather of 128 bytes", paths)
    paths = write_chakra(tmp_path, [collective(0, 0, 64)], [collective(0, 0, 65)])
    refused("rank 0 .*allreduce of 64 bytes .*rank 1 allreduce of 65 bytes", paths)
    paths = write_chakra(
        tmp_path, [collective(0, 0, 64), collective(1, 0, 64)], [collective(0, 0, 64)]
    )
    refused(r"rank 0 .*\b2\b.*rank 1 .*\b1\b", paths)


def test_a_send_without_a_receive(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [send(0, 1, 64)], [node(0, 4)])
    refused(r"rank 0 .*\b1 .*tag 0 .*rank 1\b.*\b0\b", paths)
    paths = write_chakra(tmp_path, [send(0, 1, 64)], [receive(0, 0, 32)])
    refused(r"rank 0 .*64 bytes .*rank 1 .*\b32\b", paths)


def test_a_send_that_names_no_peer_tells_where_to_find_it(tmp_path: Path) -> None:
    refused("comm_dst", write_chakra(tmp_path, [node(0, 5, integer("comm_size", 4))]))


def test_a_cycle_is_spelled_out(tmp_path: Path) -> None:
    rank = [node(0, 4, after=(1,)), node(1, 4, after=(0,))]
    refused("cycle: compute .*compute", write_chakra(tmp_path, rank))


def test_a_collective_without_bytes(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [collective(0, 0, 0)], [collective(0, 0, 0)])
    refused("'n0' .*--skip-empty", paths)
    imported = import_trace(paths, options=ReadOptions(skip_empty=True))
    assert list(imported.passed_over.values()) == [1]


@pytest.mark.parametrize(("size", "found"), [(-5, "-5"), (2**60, str(2**60))])
def test_a_size_that_cannot_be(tmp_path: Path, size: int, found: str) -> None:
    refused(f"comm_size is {found}", write_chakra(tmp_path, [collective(0, 0, size)]))


def test_a_group_that_nobody_explains(tmp_path: Path) -> None:
    rank = [node(0, 7, integer("comm_size", 4), text("pg_name", "dp"))]
    refused("'dp' .*group", write_chakra(tmp_path, rank))


def test_a_rank_that_is_absent(tmp_path: Path) -> None:
    groups = tmp_path / "g.json"
    groups.write_text('{"dp": [0, 1]}')
    rank = [node(0, 7, integer("comm_size", 4), text("pg_name", "dp"))]
    refused(r"rank 1\b", write_chakra(tmp_path, rank), options=ReadOptions(groups=groups))


@pytest.mark.parametrize("content", ["[1, 2]", '{"a": "b"}', '{"a": [1, 1]}', '{"a": [-1]}', "{"])
def test_a_group_file_that_is_none(tmp_path: Path, content: str) -> None:
    groups = tmp_path / "g.json"
    groups.write_text(content)
    paths = write_chakra(tmp_path, [node(0, 4)])
    refused("g.json", paths, options=ReadOptions(groups=groups))


def test_a_gzip_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thzsync.importers.bounded.read_bytes.__defaults__", (1 << 20,))
    path = tmp_path / "t.0.et"
    path.write_bytes(gzip.compress(bytes(10 << 20)))
    refused("1 MiB", [path])


def test_a_json_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "rank0.json"
    path.write_text('{"traceEvents": ' + "[" * 200_000)
    refused(path.name, [path])


def test_json_beyond_the_limit_is_stopped_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thzsync.importers.bounded.MOST_JSON_BYTES", 1 << 20)
    path = tmp_path / "rank0.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents": [' + b"[]," * (1 << 20)))
    refused("1 MiB", [path])


def test_nothing_is_written_when_the_import_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_chakra(tmp_path, [send(0, 1, 64)], [node(0, 4)])
    out = tmp_path / "out" / "job.trace"
    assert main(["trace", "import", *map(str, paths), "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("thzsync: error:")
    assert error.count("\n") == 1
    assert not out.parent.exists()


def test_a_file_of_no_known_format(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    refused("--format|notes", [path])
    refused(r"absent\.et", [tmp_path / "absent.et"])
    refused(f"^{tmp_path}: ", [tmp_path])


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "t.0.et"
    path.write_bytes(b"\x80\x04cos\nsystem\n(S'touch /tmp/owned'\ntR.")
    with pytest.raises(ThzSyncError):
        import_trace([path])


def test_a_simai_workload_of_several_stages_says_what_is_missing() -> None:
    refused("pp: 12", shared("simai/workload_an*.txt"))


def test_a_rank_outside_a_group_that_calls_it_is_refused() -> None:
    """An absent rank that does as the lowest one does would call that one's small groups."""
    call = Call((), "allreduce", (0, 1), 64, "pair")
    after = Work((0,), 1.0)
    recording = Recording("trace", {rank: [call, after] for rank in range(3)})
    with pytest.raises(ThzSyncError, match="rank 2 takes part") as caught:
        merge_ranks(recording, Placement())
    assert "\n" not in str(caught.value)
