"""Kineto: sizes and groups from its arguments, order and waiting from its times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.files import shared
from thzsync.collectives import Transfer
from thzsync.errors import ThzSyncError
from thzsync.importers import ReadOptions, import_trace
from thzsync.importers.kineto.importer import element_bytes
from thzsync.importers.kineto.timeline import collective_kind


def span(
    name: str, begin: float, length: float, lane: int = 7, **arguments: object
) -> dict[str, Any]:
    category = "kernel"
    return {
        "ph": "X", "cat": category, "name": name, "pid": 0, "tid": lane, "ts": begin, "dur": length,
        "args": arguments,
    }  # fmt: skip


def nccl(name: str, begin: float, length: float, elements: int, **more: object) -> dict[str, Any]:
    arguments: dict[str, object] = {
        "Collective name": name, "In msg nelems": elements, "Out msg nelems": elements,
        "dtype": "BFloat16", "Process Group Name": "0", "Process Group Ranks": "[0, 1]",
    }  # fmt: skip
    return span(f"ncclKernel_{name}", begin, length, 20, **(arguments | more))


def write(folder: Path, *ranks: list[dict[str, Any]]) -> list[Path]:
    paths = []
    for rank, events in enumerate(ranks):
        path = folder / f"profile{rank}.json"
        told = {"rank": rank, "world_size": len(ranks)}
        path.write_text(json.dumps({"distributedInfo": told, "traceEvents": events}))
        paths.append(path)
    return paths


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("allreduce", "allreduce"),
        ("all_reduce", "allreduce"),
        ("allreduce_coalesced", "allreduce"),
        ("_allgather_base", "all-gather"),
        ("all_gather_into_tensor_coalesced", "all-gather"),
        ("_reduce_scatter_base", "reduce-scatter"),
        ("all_to_allv", "a2a"),
        ("_broadcast_oop", "broadcast"),
        ("barrier", "barrier"),
        ("teleport", None),
    ],
)
def test_pytorch_has_many_names_for_a_collective(name: str, kind: str | None) -> None:
    assert collective_kind(name) == kind


def test_element_types_have_their_sizes() -> None:
    sizes = {
        "Float": 4,
        "c10::BFloat16": 2,
        "Half": 2,
        "Long": 8,
        "long int": 8,
        "Float8_e4m3fn": 1,
    }
    assert {name: element_bytes(name) for name in sizes} == sizes
    assert element_bytes("Quaternion") is None


def test_a_real_profile_gives_its_collectives_and_its_length() -> None:
    imported = import_trace(shared("kineto/nccl_data.json.gz"), options=ReadOptions(world=2))
    events = imported.trace.graph.events
    assert [e.kind for e in events].count("allreduce") == 15
    assert [e.kind for e in events].count("broadcast") == 6
    assert max(e.payload_bytes for e in events) == 7875584 * 4
    assert imported.recorded_s is not None
    assert imported.replayed_s == pytest.approx(imported.recorded_s, rel=0.01)


def test_one_step_of_a_real_profile_is_a_third_of_it() -> None:
    files = shared("kineto/nccl_data.json.gz")
    imported = import_trace(files, options=ReadOptions(world=2, step=5))
    assert len(imported.trace.graph.events) == 7
    assert imported.recorded_s == pytest.approx(0.2135, abs=1e-3)
    with pytest.raises(ThzSyncError, match=r"step 9; .*4, 5, 6"):
        import_trace(files, options=ReadOptions(world=2, step=9))


def test_work_that_stood_idle_at_a_collectives_end_waited_for_it(tmp_path: Path) -> None:
    rank = [span("gemm", 0, 10), nccl("allreduce", 10, 30, 8), span("sgd", 40, 5)]
    graph = import_trace(write(tmp_path, rank, rank)).trace.graph
    assert graph.critical_path_s(0.0) == pytest.approx(15e-6)
    assert graph.critical_path_s(1.0) == pytest.approx(1 + 15e-6)


def test_work_that_went_on_across_a_collectives_end_did_not_wait_for_it(tmp_path: Path) -> None:
    rank = [span("gemm", 0, 10), nccl("allreduce", 10, 30, 8), span("gemm", 10, 50)]
    graph = import_trace(write(tmp_path, rank, rank)).trace.graph
    assert graph.critical_path_s(20e-6) == pytest.approx(60e-6)
    assert graph.critical_path_s(0.0) == pytest.approx(60e-6)


def test_kernels_of_one_stream_follow_each_other(tmp_path: Path) -> None:
    rank = [span("gemm", 0, 90), nccl("allreduce", 10, 20, 8), nccl("allreduce", 30, 20, 8)]
    graph = import_trace(write(tmp_path, rank, rank)).trace.graph
    assert graph.critical_path_s(1.0) == pytest.approx(2 + 10e-6)


def test_a_transfer_took_what_its_last_participant_spent_in_it(tmp_path: Path) -> None:
    early = [span("gemm", 0, 10), nccl("allreduce", 10, 40, 8)]
    late = [span("gemm", 0, 45), nccl("allreduce", 45, 5, 8)]
    imported = import_trace(write(tmp_path, early, late))
    assert list(imported.event_s.values()) == [pytest.approx(5e-6)]
    assert imported.replayed_s == pytest.approx(50e-6)


def test_an_uneven_exchange_keeps_its_parts(tmp_path: Path) -> None:
    one = [nccl("all_to_allv", 0, 5, 100, **{"In split size": "[25, 75]"})]
    two = [nccl("all_to_allv", 0, 5, 40, **{"In split size": "[10, 30]"})]
    (event,) = import_trace(write(tmp_path, one, two)).trace.graph.events
    assert isinstance(event.demand, Transfer)
    assert event.demand.size_bytes.tolist() == [2 * 75, 2 * 10]


def test_sends_and_receives_find_each_other(tmp_path: Path) -> None:
    one = [nccl("send", 0, 5, 100, **{"Dst Rank": 1, "Src Rank": 0})]
    two = [nccl("recv", 0, 5, 100, **{"Dst Rank": 1, "Src Rank": 0})]
    (event,) = import_trace(write(tmp_path, one, two)).trace.graph.events
    assert (event.kind, event.payload_bytes) == ("p2p", 200)


def test_a_list_of_ranks_that_was_cut_short_follows_from_its_stride(tmp_path: Path) -> None:
    told = {
        "Process Group Ranks": "[0, 2, ...]", "Global rank start": 0, "Global rank stride": 2,
        "Group size": 2, "Process Group Name": "dp",
    }  # fmt: skip
    paths = write(
        tmp_path, [nccl("allreduce", 0, 5, 8, **told)], [], [nccl("allreduce", 0, 5, 8, **told)]
    )
    (event,) = import_trace([paths[0], paths[2]]).trace.graph.events
    assert event.racks.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "Quaternion"}, "'Quaternion' .*--element-bytes"),
        ({"In msg nelems": -1}, "In msg nelems .*-1"),
        ({"Collective name": "teleport"}, "'teleport'"),
    ],
)
def test_arguments_that_say_nothing_are_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ThzSyncError, match=message):
        import_trace(write(tmp_path, [nccl("allreduce", 0, 5, 8, **change)]))


def test_an_old_profile_without_sizes_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match=r"PyTorch \d"):
        import_trace(write(tmp_path, [span("record_param_comms", 0, 5)]))


def test_a_profile_of_one_process_says_that_it_has_no_collective(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="collective"):
        import_trace(write(tmp_path, [span("gemm", 0, 5)]))
