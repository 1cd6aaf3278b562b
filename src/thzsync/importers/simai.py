"""SimAI's text workloads: one table of layers, the same for every rank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_bytes
from thzsync.importers.importer import ReadOptions
from thzsync.importers.ranks import Call, Operation, Recording, Spot, Track, Work
from thzsync.workload import Phase

_HEADER: Final = re.compile(r"(\w+):\s*(\d+)")
_COLUMNS: Final = 12
_MOST_OPERATIONS: Final = 2_000_000
_KINDS: Final = {
    "ALLREDUCE": "allreduce",
    "ALLGATHER": "all-gather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "a2a",
}
_FORWARD, _BACKWARD = Spot(phase=Phase.FORWARD), Spot(phase=Phase.BACKWARD)

_Step = tuple[int, str, int]
"""Compute [ns], then a collective and its size [bytes], in one pass of a layer."""
_Layer = tuple[str, _Step, _Step, _Step]
"""Name, forward pass, gradients of the input, gradients of the weights."""


class SimAiImporter:
    """Reads workloads with one stage; others do not say which rank runs which layer."""

    name = "simai"
    title = "SimAI text workloads"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Recognise a file by its first line."""
        return b"model_parallel_NPU_group:" in head.split(b"\n", 1)[0]

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        """The same layers on every rank, with the groups of the rank."""
        if len(paths) != 1:
            raise ThzSyncError(f"{paths[1]}: one SimAI workload is for all ranks; name one file")
        path = paths[0]
        lines = read_bytes(path).decode("utf-8", "replace").splitlines()
        header = {k: int(v) for k, v in _HEADER.findall(lines[0][:10_000])} if lines else {}
        _check_header(path, header)
        layers = _layers(path, lines)
        world = header["all_gpus"]
        if world * len(layers) * 6 > _MOST_OPERATIONS:
            raise ThzSyncError(
                f"{path}: {world} ranks times {len(layers)} layers are more than "
                f"{_MOST_OPERATIONS} operations; generate it for fewer ranks"
            )
        ranks = {rank: _Rank(path, rank, header).run(layers) for rank in range(world)}
        return Recording(str(path), ranks)


def _check_header(path: Path, header: dict[str, int]) -> None:
    for key in ("model_parallel_NPU_group", "ep", "pp", "all_gpus"):
        if not 0 < header.get(key, 0) < 1 << 24:
            raise ThzSyncError(f"{path}: line 1: {key} is missing; it is not a SimAI workload")
    if header["pp"] > 1:
        raise ThzSyncError(
            f"{path}: line 1: pp: {header['pp']}: the file does not say which layers belong to "
            "which stage and micro-batch; generate the workload with pp: 1"
        )
    if header["all_gpus"] % (header["model_parallel_NPU_group"] * header["ep"]):
        raise ThzSyncError(
            f"{path}: line 1: all_gpus: {header['all_gpus']} is not a multiple of "
            "model_parallel_NPU_group times ep"
        )


def _layers(path: Path, lines: list[str]) -> list[_Layer]:
    try:
        expected = int(lines[1])
    except (IndexError, ValueError):
        raise ThzSyncError(f"{path}: line 2: the number of layers is missing") from None
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != expected:
        raise ThzSyncError(f"{path}: holds {len(rows)} of {expected} layers; it is truncated")
    return [_layer(f"{path}: line {n}", row) for n, row in enumerate(rows, start=3)]


def _layer(place: str, row: list[str]) -> _Layer:
    if len(row) != _COLUMNS:
        raise ThzSyncError(f"{place}: {len(row)} columns where a layer has {_COLUMNS}")
    try:
        forward, inputs, weights = ((int(row[k]), row[k + 1], int(row[k + 2])) for k in (2, 5, 8))
    except ValueError:
        raise ThzSyncError(f"{place}: times and sizes must be whole numbers") from None
    for nanoseconds, _, size in (forward, inputs, weights):
        if not (0 <= nanoseconds < 1 << 60 and 0 <= size < 1 << 53):
            raise ThzSyncError(f"{place}: times and sizes must be 0 or more")
    return row[0], forward, inputs, weights


@dataclass
class _Rank(Track):
    """Operations of one rank."""

    path: Path
    rank: int
    header: dict[str, int]

    def run(self, layers: list[_Layer]) -> list[Operation]:
        """Forward through all layers, then backward, which overlaps the sums of gradients."""
        for name, forward, _, _ in layers:
            self.last = self._step(name, forward, _FORWARD, "tensor")
        for name, _, inputs, weights in reversed(layers):
            self.last = self._step(name, inputs, _BACKWARD, "tensor")
            self._step(name, weights, _BACKWARD, "data")
        return self.operations

    def _step(self, name: str, step: _Step, spot: Spot, usual: str) -> tuple[int, ...]:
        """Compute, then a collective in the usual group or in that which its name ends with."""
        nanoseconds, collective, size = step
        computed = (self.add(Work(self.last, nanoseconds * 1e-9, name, spot)),)
        if collective == "NONE" or size == 0:
            return computed
        base, _, suffix = collective.partition("_")
        kind, group = _KINDS.get(base), self._group(suffix or usual)
        if kind is None or group is None:
            raise ThzSyncError(f"{self.path}: layer {name}: collective {collective} is not known")
        call = Call(computed, kind, group, size, suffix or usual, label=name, spot=spot)
        return (self.add(call),)

    def _group(self, channel: str) -> tuple[int, ...] | None:
        """Tensor-parallel ranks are neighbours; experts come next; the rest is data-parallel."""
        tensor, experts, world = (
            self.header[key] for key in ("model_parallel_NPU_group", "ep", "all_gpus")
        )
        rank, block = self.rank, tensor * experts
        groups = {
            "tensor": (rank - rank % tensor, 1, tensor),
            "data": (rank % tensor, tensor, world // tensor),
            "EP": (rank - rank % block + rank % tensor, tensor, experts),
            "DP_EP": (rank % block, block, world // block),
        }
        if channel not in groups:
            return None
        first, stride, size = groups[channel]
        return tuple(range(first, first + size * stride, stride))
