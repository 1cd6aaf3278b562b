"""SimAI's text workloads: one table of layers, the same for every rank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_bytes
from thzsync.importers.options import ReadOptions
from thzsync.importers.ranks import Call, Operation, Recording, Spot, Track, Work
from thzsync.workload import Phase

_HEADER: Final = re.compile(r"(\w+):\s*(\d+)")
_COLUMNS: Final = 12
_MOST_OPERATIONS: Final = 2_000_000
_NONE: Final = "NONE"
_GROUPS: Final = ("tensor", "data", "EP", "DP_EP")
_KINDS: Final = {
    "ALLREDUCE": "allreduce",
    "ALLGATHER": "all-gather",
    "REDUCESCATTER": "reduce-scatter",
    "ALLTOALL": "a2a",
}
_FORWARD, _BACKWARD = Spot(phase=Phase.FORWARD), Spot(phase=Phase.BACKWARD)


@dataclass(frozen=True)
class _Step:
    """Compute, then a collective, in one pass of a layer."""

    nanoseconds: int
    collective: str
    size_bytes: int


@dataclass(frozen=True)
class _Layer:
    name: str
    forward: _Step
    input_gradient: _Step
    weight_gradient: _Step


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
            raise ThzSyncError(f"{paths[1]}: one SimAI workload tells of all ranks; name one file")
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
    return _Layer(row[0], *(_step(place, *row[k : k + 3]) for k in (2, 5, 8)))


def _step(place: str, nanoseconds: str, collective: str, size: str) -> _Step:
    try:
        step = _Step(int(nanoseconds), collective, int(size))
    except ValueError:
        raise ThzSyncError(f"{place}: times and sizes must be whole numbers") from None
    if not (0 <= step.nanoseconds < 1 << 60 and 0 <= step.size_bytes < 1 << 53):
        raise ThzSyncError(f"{place}: times and sizes must be 0 or more")
    return step


class _Rank(Track):
    """Operations of one rank."""

    def __init__(self, path: Path, rank: int, header: dict[str, int]) -> None:
        super().__init__()
        self.path, self.rank, self.header = path, rank, header

    def run(self, layers: list[_Layer]) -> list[Operation]:
        """Forward through all layers, then backward, which overlaps the sums of gradients."""
        for layer in layers:
            self.last = self._step(layer.name, layer.forward, _FORWARD, "tensor")
        for layer in reversed(layers):
            self.last = self._step(layer.name, layer.input_gradient, _BACKWARD, "tensor")
            self._step(layer.name, layer.weight_gradient, _BACKWARD, "data")
        return self.operations

    def _step(self, name: str, step: _Step, spot: Spot, usual: str) -> tuple[int, ...]:
        """Compute, then a collective in the usual group or in that which its name ends with."""
        computed = (self.add(Work(self.last, step.nanoseconds * 1e-9, name, spot)),)
        if step.collective == _NONE or step.size_bytes == 0:
            return computed
        base, _, suffix = step.collective.partition("_")
        kind, channel = _KINDS.get(base), suffix or usual
        if kind is None or channel not in _GROUPS:
            raise ThzSyncError(
                f"{self.path}: layer {name}: collective {step.collective} is not known"
            )
        group = _group(self.rank, self.header, channel)
        call = Call(computed, kind, group, step.size_bytes, channel, label=name, spot=spot)
        return (self.add(call),)


def _group(rank: int, header: dict[str, int], channel: str) -> tuple[int, ...]:
    """Tensor-parallel ranks are neighbours; experts come next; the rest is data-parallel."""
    tensor, experts, world = header["model_parallel_NPU_group"], header["ep"], header["all_gpus"]
    block = tensor * experts
    first, stride, size = {
        "tensor": (rank - rank % tensor, 1, tensor),
        "data": (rank % tensor, tensor, world // tensor),
        "EP": (rank - rank % block + rank % tensor, tensor, experts),
        "DP_EP": (rank % block, block, world // block),
    }[channel]
    return tuple(range(first, first + size * stride, stride))
