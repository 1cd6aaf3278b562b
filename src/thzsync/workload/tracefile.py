"""The trace file: one iteration as gzipped JSON lines, written completely or not at all.

The first line is a header. One line per node follows, in order of id. Numbers keep every digit, so
a file gives the same graph again, and the same graph gives the same bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from thzsync.arrays import LATEST_S, IntArray
from thzsync.collectives import Demand, Tensor, Transfer, collective_names, find_collective
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.workload.graph import Compute, Event, Node, Phase, TrainingGraph

FORMAT: Final = "thzsync-trace"
VERSION: Final = 1
LONGEST_LINE_BYTES: Final = 2**27
"""Longest line: an exchange among two thousand racks fits [bytes]."""
LARGEST_INDEX: Final = 2**31 - 1
"""Largest number that fits into the columns of a record."""
LARGEST_BYTES: Final = 2**53
"""Largest size, as in a scenario [bytes]."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A graph and its origin."""

    graph: TrainingGraph
    rack_count: int
    """Racks on the floor for which the trace was made."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Provenance, in any form: scenario, seed, iteration, version."""


def write_trace(path: str | Path, trace: Trace) -> None:
    """Write a trace file; a crash leaves the old file or none, never an incomplete one."""
    buffer = io.BytesIO()
    # No name and no time in the gzip header: equal graphs give equal bytes.
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=buffer, mtime=0) as packed:
        for line in _lines(trace):
            packed.write(line.encode() + b"\n")
    write_atomically(path, buffer.getvalue())


def read_trace(path: str | Path) -> Trace:
    """Read and check a trace file line by line; stop unpacking at the first wrong line."""
    with _open_lines(path) as lines:
        header = Record(next(lines, ""), f"{path}: line 1")
        _check_format(path, header)
        nodes = tuple(_nodes(path, header.whole("nodes"), lines))
    racks = header.whole("racks")
    origin = header.values.get("origin", {})
    if not isinstance(origin, dict):
        header.refuse("origin", "a table")
    return Trace(TrainingGraph(nodes, racks, str(path)), racks, origin)


def _check_format(path: str | Path, header: Record) -> None:
    if header.values.get("format") != FORMAT:
        raise ThzSyncError(f"{path}: not a trace file; `thzsync trace generate` writes one")
    if header.values.get("version") != VERSION:
        raise ThzSyncError(
            f"{path}: trace version {header.values.get('version')!r}; this thzsync reads version "
            f"{VERSION}: generate the file again, or use the thzsync that wrote it"
        )


def _nodes(path: str | Path, expected: int, lines: Iterator[str]) -> Iterator[Node]:
    found = 0
    for found, line in enumerate(lines, start=1):
        if found > expected:
            raise ThzSyncError(
                f"{path}: holds more than the {expected} nodes that its header promises; "
                "generate it again"
            )
        record = Record(line, f"{path}: line {found + 1}")
        if record.whole("id") != found - 1:  # else a packed file could repeat one line endlessly
            record.refuse("id", f"{found - 1}, since ids count from 0")
        yield _node(record)
    if found < expected:
        raise ThzSyncError(
            f"{path}: holds {found} of {expected} nodes; the file is truncated or "
            "damaged: generate it again"
        )


def _lines(trace: Trace) -> Iterator[str]:
    header = {
        "format": FORMAT, "version": VERSION, "racks": trace.rack_count,
        "nodes": len(trace.graph.nodes), "origin": dict(trace.origin),
    }  # fmt: skip
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


@contextmanager
def _open_lines(path: str | Path) -> Iterator[Iterator[str]]:
    """The unpacked lines; any failure to unpack is one kind of error."""
    try:
        with gzip.open(path, "rb") as packed:
            yield _unpacked(path, packed)
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


def _unpacked(path: str | Path, packed: gzip.GzipFile) -> Iterator[str]:
    for number in count(1):
        line = packed.readline(LONGEST_LINE_BYTES)
        if len(line) == LONGEST_LINE_BYTES:
            raise ThzSyncError(f"{path}: line {number} is too long to be that of a trace")
        if not line:
            return
        yield line.decode().removesuffix("\n")


def _node(record: Record) -> Node:
    kind = record.choice("node", ("compute", *collective_names()))
    common: dict[str, Any] = {
        "id": record.whole("id"),
        "job": record.text("job"),
        "stage": record.whole("stage"),
        "phase": Phase(record.choice("phase", [*Phase])),
        "microbatch": record.whole("microbatch"),
        "racks": record.wholes("racks"),
        "after": tuple(record.wholes("after").tolist()),
    }
    if kind == "compute":
        rank = record.whole("rank") if "rank" in record.values else None
        return Compute(**common, duration_s=record.seconds("duration_s"), rank=rank)
    return Event(
        **common,
        kind=kind,
        label=record.text("label"),
        demand=_demand(record, kind),
        release_s=record.seconds("release_s"),
    )


def _demand(record: Record, kind: str) -> Demand:
    if find_collective(kind).demand is Tensor:
        root = record.whole("root") if "root" in record.values else None
        return Tensor(record.whole("tensor_bytes", LARGEST_BYTES), root)
    return Transfer(record.wholes("src"), record.wholes("dst"), record.sizes("bytes"))


class Record:
    """The values of one line."""

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
            noun = "compute" if values["node"] == "compute" else "event"
            self.place += f" ({noun} {json.dumps(values['id'])[:20]})"

    def refuse(self, key: str, wanted: str) -> NoReturn:
        """Refuse a value: say what was found and what is allowed."""
        found = json.dumps(self.values[key])[:60] if key in self.values else "nothing"
        raise ThzSyncError(f"{self.place}: {key}: found {found}; it must be {wanted}")

    def checked(self, key: str, sound: Callable[[Any], bool], wanted: str) -> Any:
        """A value that ``sound`` accepts; messages call it ``wanted``."""
        value = self.values.get(key)
        if not sound(value):
            self.refuse(key, wanted)
        return value

    def whole(self, key: str, most: int = LARGEST_INDEX) -> int:
        """A whole number; callers refuse negative ones where they make no sense."""
        wanted = f"a whole number, at most {most}"
        return int(self.checked(key, lambda value: _is_whole(value, most), wanted))

    def wholes(self, key: str, most: int = LARGEST_INDEX) -> IntArray:
        """A list of whole numbers; each is limited, their sum is not."""

        def sound(value: Any) -> bool:
            return isinstance(value, list) and all(_is_whole(item, most) for item in value)

        wanted = f"a list of whole numbers, at most {most}"
        return np.array(self.checked(key, sound, wanted), dtype=np.int64)

    def sizes(self, key: str) -> IntArray:
        """Sizes whose sum is also within the limit of a size [bytes]."""
        sizes = self.wholes(key, LARGEST_BYTES)
        if sum(self.values[key]) > LARGEST_BYTES:
            self.refuse(key, f"sizes that sum to at most {LARGEST_BYTES} bytes")
        return sizes

    def seconds(self, key: str) -> float:
        """A time within the simulated clock [s]."""

        def sound(value: Any) -> bool:
            return type(value) in (int, float) and abs(value) <= LATEST_S

        return float(self.checked(key, sound, f"a number of seconds, at most {LATEST_S:g}"))

    def text(self, key: str) -> str:
        """A text."""
        return str(self.checked(key, lambda value: isinstance(value, str), "a text"))

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """One of some texts."""
        return str(self.checked(key, allowed.__contains__, f"one of {', '.join(allowed)}"))


def _is_whole(value: Any, most: int) -> bool:
    return type(value) is int and abs(value) <= most
