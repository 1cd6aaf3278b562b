"""Every importer keeps the same rules, the package's own and others'."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from tests.importers.files import collective, node, write_chakra
from thzsync.errors import ThzSyncError
from thzsync.importers import (
    Call,
    Importer,
    ReadOptions,
    Recording,
    Work,
    find_importer,
    import_trace,
    importer,
    importer_names,
    register_importer,
)
from thzsync.importers.conformance import check_importer

SIMAI = """model_parallel_NPU_group: 2 ep: 1 pp: 1 all_gpus: 2
1
a -1 9 ALLREDUCE 8 1 NONE 0 1 NONE 0 1
"""
PROFILE = {
    "schemaVersion": 1,
    "distributedInfo": {"rank": 0, "world_size": 2},
    "traceEvents": [
        {
            "ph": "X", "cat": "kernel", "name": "nccl", "pid": 0, "tid": 1, "ts": 5, "dur": 5,
            "args": {
                "Collective name": "allreduce", "In msg nelems": 4, "Out msg nelems": 4,
                "dtype": "Float", "Process Group Ranks": "[0, 1]",
            },
        }
    ],
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("nothing_stays_registered")


def sample(name: str, folder: Path) -> tuple[list[Path], ReadOptions]:
    if name == "chakra":
        rank = [node(0, 4, micros=3), collective(1, 0, 64, after=(0,))]
        return write_chakra(folder, rank, rank), ReadOptions()
    path = folder / "sample.0"
    if name == "kineto":
        path.write_text(json.dumps(PROFILE))
        return [path], ReadOptions(world=2)
    if name == "simai":
        path.write_text(SIMAI)
        return [path], ReadOptions()
    row = {"dp_rank": 0, "stage": 0, "step": 0, "optype": "forward-compute", "start_ts": 0.0}
    pl.DataFrame([row | {"duration": 1.0, "seq_id": 0}]).write_parquet(path)
    return [path], ReadOptions(model="llama3-8b")


@pytest.mark.parametrize("name", importer_names())
def test_importers_of_the_package_conform_and_are_found_by_content(
    name: str, tmp_path: Path
) -> None:
    paths, options = sample(name, tmp_path)
    assert check_importer(find_importer(name, paths), paths, options) > 0
    assert find_importer("auto", paths).name == name


class LineImporter:
    """A format of one line per rank: how many microseconds it works before an AllReduce."""

    name = "lines"
    title = "Lines"

    def recognises(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"#lines\n")

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        rows = paths[0].read_text().splitlines()[1:]
        world = tuple(range(len(rows)))
        ranks = {}
        for rank, row in enumerate(rows):
            if not row.isdigit():
                raise ThzSyncError(f"{paths[0]}: line {rank + 2}: not a number")
            ranks[rank] = [Work((), int(row) * 1e-6), Call((0,), "allreduce", world, 1000)]
        return Recording(str(paths[0]), ranks)


def test_an_importer_from_outside_is_one_class(tmp_path: Path) -> None:
    path = tmp_path / "job.lines"
    path.write_text("#lines\n5\n9\n")
    register_importer(LineImporter())
    assert isinstance(LineImporter(), Importer)
    assert check_importer(LineImporter(), [path]) == 4
    assert import_trace([path]).trace.graph.critical_path_s() == pytest.approx(9e-6)
    assert import_trace([path]).trace.origin["format"] == "lines"
    with pytest.raises(ThzSyncError, match="'lines'"):
        register_importer(LineImporter())


@dataclass
class Entry:
    """What a package's metadata offers."""

    name: str
    target: object

    def load(self) -> object:
        return self.target


def publish(monkeypatch: pytest.MonkeyPatch, target: object) -> None:
    """As if a package were installed that names this object in the group of importers."""
    entries = {importer.ENTRY_POINTS: [Entry("lines", target)]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries.get(group, []))
    importer.IMPORTERS.forget()


def test_an_installed_package_brings_its_importer_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, LineImporter())
    path = tmp_path / "job.any"
    path.write_text("#lines\n5\n9\n")
    assert find_importer("auto", [path]).name == "lines"
    publish(monkeypatch, "no importer")
    with pytest.raises(ThzSyncError, match=r"entry point 'lines' "):
        find_importer("auto", [path])


class Careless(LineImporter):
    name = "careless"

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        rows = [int(row) for row in paths[0].read_text().splitlines()[1:]]
        return Recording("x", {0: [Work((), rows[0])]})


class Lost(LineImporter):
    name = "lost"

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        return Recording("x", {0: [Work((7,), 1.0)]})


@pytest.mark.parametrize(
    ("rival", "message"),
    [(Careless(), "IndexError"), (Lost(), "operation")],
)
def test_what_breaks_a_rule_is_named(rival: Importer, message: str, tmp_path: Path) -> None:
    path = tmp_path / "job.lines"
    path.write_text("#lines\n5\n9\n")
    with pytest.raises(ThzSyncError, match=message):
        check_importer(rival, [path])
