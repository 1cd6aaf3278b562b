"""The trace file: one iteration as gzipped JSON lines, written whole or not at all.

The first line is a header, then follows one line per node, in order of id. Numbers keep every
digit, so a file read back gives the same graph; the same graph gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, TypeGuard

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer, collective_names, find_collective
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.workload.graph import TrainingGraph
from thzsync.workload.nodes import Compute, Event, Node, Phase

FORMAT: Final = "thzsync-trace"
VERSION: Final = 1


@dataclass(frozen=True, eq=False)
class Trace:
    """A graph and where it came from."""

    graph: TrainingGraph
    rack_count: int
    """Racks on the floor that the trace was made for."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Free provenance: scenario, seed, iteration, version."""


def write_trace(path: str | Path, trace: Trace) -> None:
    """Write a trace file; a crash leaves the old file or none, never half of one."""
    buffer = io.BytesIO()
    # No name and no time in the gzip header: equal graphs give equal bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=buffer, mtime=0) as packed:
        for line in _lines(trace):
            packed.write(line.encode() + b"\n")
    write_atomically(path, buffer.getvalue())


def read_trace(path: str | Path) -> Trace:
    """Read and check a trace file."""
    lines = _read_lines(path)
    header = _Record(lines[0], f"{path}: line 1")
    if header.values.get("format") != FORMAT:
        raise ThzSyncError(f"{path}: not a trace file; `thzsync trace generate` writes one")
    if header.values.get("version") != VERSION:
        raise ThzSyncError(
            f"{path}: trace version {header.values.get('version')!r}; this thzsync reads version "
            f"{VERSION}: generate the file again, or use the thzsync that wrote it"
        )
    expected = header.whole("nodes")
    if len(lines) - 1 != expected:
        raise ThzSyncError(
            f"{path}: holds {len(lines) - 1} of {expected} nodes; the file is truncated or "
            "damaged: generate it again"
        )
    records = (_Record(line, f"{path}: line {n}") for n, line in enumerate(lines[1:], start=2))
    nodes = tuple(_node(record) for record in records)
    racks = header.whole("racks")
    origin = header.values.get("origin", {})
    if not isinstance(origin, dict):
        header.refuse("origin", "a table")
    return Trace(TrainingGraph(nodes, racks, str(path)), racks, origin)


def _lines(trace: Trace) -> Iterator[str]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "racks": trace.rack_count,
        "nodes": len(trace.graph.nodes),
        "origin": dict(trace.origin),
    }
    for record in (header, *map(_record, trace.graph.nodes)):
        yield json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _record(node: Node) -> dict[str, Any]:
    common = {
        "id": node.id,
        "job": node.job,
        "stage": node.stage,
        "phase": node.phase.value,
        "microbatch": node.microbatch,
        "racks": node.racks.tolist(),
        "after": list(node.after),
    }
    if isinstance(node, Compute):
        rank = {} if node.rank is None else {"rank": node.rank}
        return {"node": "compute", **common, "duration_s": node.duration_s, **rank}
    own: dict[str, Any] = {"label": node.label, "release_s": node.release_s}
    if isinstance(node.demand, Tensor):
        own["tensor_bytes"] = node.demand.tensor_bytes
        if node.demand.root is not None:
            own["root"] = node.demand.root
    else:
        own["src"] = node.demand.src.tolist()
        own["dst"] = node.demand.dst.tolist()
        own["bytes"] = node.demand.size_bytes.tolist()
    return {"node": node.kind, **common, **own}


def _read_lines(path: str | Path) -> list[str]:
    try:
        with gzip.open(path, "rb") as packed:
            return packed.read().decode().removesuffix("\n").split("\n")
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync trace generate --out {path}` writes one"
        ) from None
    except EOFError:
        raise ThzSyncError(f"{path}: the file is truncated; generate it again") from None
    except (gzip.BadGzipFile, zlib.error, UnicodeDecodeError):
        raise ThzSyncError(
            f"{path}: not a trace file, or damaged; `thzsync trace generate` writes one"
        ) from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read ({error.strerror})") from None


def _node(record: _Record) -> Node:
    kind = record.choice("node", ("compute", *collective_names()))
    common: dict[str, Any] = {
        "id": record.whole("id"),
        "job": record.text("job"),
        "stage": record.whole("stage"),
        "phase": Phase(record.choice("phase", tuple(phase.value for phase in Phase))),
        "microbatch": record.whole("microbatch"),
        "racks": record.wholes("racks"),
        "after": tuple(record.wholes("after").tolist()),
    }
    if kind == "compute":
        rank = record.whole("rank") if "rank" in record.values else None
        return Compute(**common, duration_s=record.number("duration_s"), rank=rank)
    return Event(
        **common,
        kind=kind,
        label=record.text("label"),
        demand=_demand(record, kind),
        release_s=record.number("release_s"),
    )


def _demand(record: _Record, kind: str) -> Demand:
    if find_collective(kind).demand is Tensor:
        root = record.whole("root") if "root" in record.values else None
        return Tensor(record.whole("tensor_bytes"), root)
    return Transfer(record.wholes("src"), record.wholes("dst"), record.wholes("bytes"))


class _Record:
    """One line of the file; every access checks the type and names the line."""

    def __init__(self, line: str, place: str) -> None:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise ThzSyncError(f"{place}: not a JSON object; generate the file again")
        self.values: dict[str, Any] = values
        self.place = place
        if "node" in values and "id" in values:
            self.place += (
                f" ({'compute' if values['node'] == 'compute' else 'event'} {values['id']})"
            )

    def refuse(self, key: str, wanted: str) -> NoReturn:
        found = json.dumps(self.values[key])[:60] if key in self.values else "nothing"
        raise ThzSyncError(f"{self.place}: {key}: found {found}; it must be {wanted}")

    def whole(self, key: str) -> int:
        value = self.values.get(key)
        if not _is_whole(value):
            self.refuse(key, "a whole number")
        return value

    def wholes(self, key: str) -> IntArray:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(map(_is_whole, value)):
            self.refuse(key, "a list of whole numbers")
        return np.array(value, dtype=np.int64)

    def number(self, key: str) -> float:
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            self.refuse(key, "a number")
        return float(value)

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            self.refuse(key, "a text")
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.values.get(key)
        if value not in allowed:
            self.refuse(key, f"one of {', '.join(allowed)}")
        return str(value)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
