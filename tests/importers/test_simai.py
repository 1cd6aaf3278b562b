from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.files import shared
from thzsync.errors import ThzSyncError
from thzsync.importers import import_trace

HEADER = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 all_gpus: 8\n"
)


def write(folder: Path, *layers: str, header: str = HEADER) -> Path:
    path = folder / "workload.txt"
    path.write_text(f"{header}{len(layers)}\n" + "\n".join(layers) + "\n")
    return path


def test_a_microbenchmark_runs_its_layers_one_after_another() -> None:
    graph = import_trace(shared("simai/microAllReduce.txt")).trace.graph
    assert [(e.kind, e.payload_bytes) for e in graph.events] == [
        ("allreduce", 16 * 2**20),
        ("allreduce", 64 * 2**20),
    ]
    # Two layers of 556 us, and a nanosecond each for what is left out backwards.
    assert graph.critical_path_s() == pytest.approx(2 * 556e-6, rel=1e-4)
    assert graph.critical_path_s(1.0) == pytest.approx(2.0, rel=1e-2)


def test_a_collectives_name_and_pass_tell_its_group(tmp_path: Path) -> None:
    layers = (
        "attention -1 100 ALLGATHER 800 1 NONE 0 1 NONE 0 1",
        "experts -1 100 ALLTOALL_EP 800 1 NONE 0 1 NONE 0 1",
        "gradients -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 800 1",
        "moe_gradients -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER_DP_EP 800 1",
    )
    graph = import_trace([write(tmp_path, *layers)]).trace.graph
    groups = {(e.label, tuple(e.racks.tolist())) for e in graph.events}
    assert ("attention", (0, 1)) in groups
    assert ("experts", (0, 2)) in groups
    assert ("gradients", (0, 2, 4, 6)) in groups
    assert ("moe_gradients", (0, 4)) in groups


@pytest.mark.parametrize(
    ("layers", "header", "message"),
    [
        (("a -1 1 NONE",), HEADER, r"line 3: 4 .*\b12\b"),
        (("a -1 x NONE 0 1 NONE 0 1 NONE 0 1",), HEADER, "line 3: "),
        (("a -1 1 WARP 8 1 NONE 0 1 NONE 0 1",), HEADER, r"layer a: .*\bWARP\b"),
        ((), "model_parallel_NPU_group: 2 all_gpus: 8\n", r"line 1: ep\b"),
        ((), HEADER.replace("all_gpus: 8", "all_gpus: 7"), r"\b7\b"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    layers: tuple[str, ...], header: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ThzSyncError, match=message):
        import_trace([write(tmp_path, *layers, header=header)])


def test_a_truncated_workload_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1", "b -1 1 NONE 0 1 NONE 0 1 NONE 0 1")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ThzSyncError, match="1 of 2 layers"):
        import_trace([path])
