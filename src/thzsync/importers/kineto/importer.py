"""PyTorch's profiles: bytes, groups and times of every collective, a JSON file per rank."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import by_rank, rank_in_name, read_json
from thzsync.importers.groups import configured
from thzsync.importers.importer import ReadOptions
from thzsync.importers.kineto import timeline
from thzsync.importers.kineto.timeline import Span, Traffic
from thzsync.importers.ranks import Call, Message, Operation, Recording, known_kind

_MOST_ELEMENTS: Final = 1 << 50
_MOST_RANKS: Final = 1 << 24
_ELEMENT_BYTES: Final = {
    "double": 8, "long": 8, "longint": 8, "complexfloat": 8, "complexdouble": 16,
    "float": 4, "int": 4, "half": 2, "bfloat": 2, "short": 2, "shortint": 2,
    "byte": 1, "char": 1, "unsignedchar": 1, "signedchar": 1, "bool": 1,
    "floate": 1, "floatem": 1, "floatefn": 1, "floatemfn": 1, "floatemfnuz": 1,
}  # fmt: skip
"""By the letters of a type, so that c10::BFloat16 and BFloat16 are the same."""


class KinetoImporter:
    """Reads the files of ``torch.profiler``."""

    name = "kineto"
    title = "PyTorch Kineto profiles"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Recognise a JSON object with one of the keys that Kineto writes first."""
        marks = (b'"schemaVersion"', b'"traceEvents"', b'"deviceProperties"')
        return head.lstrip()[:1] == b"{" and any(mark in head for mark in marks)

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        """The timelines of all ranks as operations."""
        files: dict[int, Path] = {}
        ranks: dict[int, list[Operation]] = {}
        lengths = []
        for path in paths:
            profile = _Profile(path, read_json(path), options)
            rank = rank_in_name(path) if profile.rank is None else profile.rank
            ranks[by_rank(files, rank, path)], length_s = profile.operations()
            lengths.append(length_s)
        return Recording(str(paths[0]), ranks, Counter(), max(lengths, default=None))


class _Profile:
    """One rank's file."""

    def __init__(self, path: Path, document: Any, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.spans = timeline.read_spans(document, path)
        information = document.get("distributedInfo")
        known: Mapping[str, Any] = information if isinstance(information, dict) else {}
        rank, size = known.get("rank"), known.get("world_size")
        self.rank = rank if type(rank) is int and rank >= 0 else None
        recorded = size if type(size) is int and 0 < size <= _MOST_RANKS else 1
        self.world = tuple(range(options.world or recorded))
        self.groups = configured(known.get("pg_config"), self.world, str(path))

    def operations(self) -> tuple[list[Operation], float]:
        """The operations, and their duration [s]."""
        chosen = self._chosen()
        found = timeline.traffic(chosen, self.path)
        if not found:
            raise ThzSyncError(
                f"{self.path}: no collective found; profile a distributed step, see docs/traces.md"
            )
        times = timeline.busy(chosen, {t.run.lane for t in found})
        begin_us = min([found[0].issued_us, *times.begin_us[:1]])
        end_us = max([*(t.run.end_us for t in found), *times.end_us[-1:]])
        last_us = max([begin_us, *times.end_us[-1:]])
        made = timeline.operations(found, times, begin_us, last_us, self._operation)
        return made, (end_us - begin_us) * 1e-6

    def _chosen(self) -> list[Span]:
        if self.options.step is None:
            return self.spans
        known = timeline.steps(self.spans)
        if self.options.step not in known:
            listed = ", ".join(map(str, sorted(known))) or "none: call profiler.step()"
            raise ThzSyncError(f"{self.path}: --step: no step {self.options.step}; it has {listed}")
        begin_us, end_us = known[self.options.step]
        return [span for span in self.spans if begin_us <= span.begin_us < end_us]

    def _operation(self, asked: Traffic, after: tuple[int, ...]) -> Operation:
        place = f"{self.path}: {asked.name[:40]!r} at {asked.issued_us:.0f} us"
        arguments = asked.run.arguments
        took_s = (asked.run.end_us - asked.run.begin_us) * 1e-6
        size, into, out = self._sizes(arguments, place)
        if asked.name in ("send", "recv"):
            sends = asked.name == "send"
            peer = _whole(arguments, "Dst Rank" if sends else "Src Rank", place)
            bytes_ = (into or out) * size
            return Message(after, sends, peer, bytes_, 0, asked.name, took_s)
        kind = known_kind(timeline.collective_kind(asked.name), asked.name, place)
        channel, group = self._group(arguments, place)
        total = _whole_elements(kind, into, out, len(group)) * size
        parts = _parts(arguments, total, len(group), place) if kind == "a2a" else ()
        return Call(after, kind, group, total, channel, None, parts, asked.name, took_s)

    def _sizes(self, arguments: Mapping[str, Any], place: str) -> tuple[int, int, int]:
        """Bytes per element, input elements, output elements."""
        if "In msg nelems" in arguments:
            into, out = (_whole(arguments, f"{end} msg nelems", place) for end in ("In", "Out"))
            dtype = str(arguments.get("dtype", ""))
        else:
            into = out = _product(timeline.first_shape(arguments), place)
            types = arguments.get("Input type")
            dtype = str(types[0]) if isinstance(types, list) and types else ""
        size = self.options.element_bytes or element_bytes(dtype)
        if size is None:
            raise ThzSyncError(f"{place}: element type {dtype!r} is not known; use --element-bytes")
        return size, into, out

    def _group(self, arguments: Mapping[str, Any], place: str) -> tuple[str, tuple[int, ...]]:
        name = str(arguments.get("Process Group Name", ""))
        if name not in self.groups:
            try:
                ranks = json.loads(str(arguments.get("Process Group Ranks", "[]")))
            except (ValueError, RecursionError):  # dots replace the end of a long list
                ranks = _strided(arguments, place)
            return name, configured([{"pg_name": name, "ranks": ranks}], self.world, place)[name]
        return name, self.groups[name]


def element_bytes(dtype: str) -> int | None:
    """Bytes of one element of a type such as ``Float``, ``c10::Half`` or ``Float8_e4m3fn``."""
    return _ELEMENT_BYTES.get(timeline.letters(dtype.lower().removeprefix("c10::")))


def _whole_elements(kind: str, handed_in: int, handed_out: int, ranks: int) -> int:
    """Elements of the whole tensor, from the input and output of one rank."""
    if kind == "all-gather":
        return max(handed_out, handed_in * ranks)
    if kind == "gather":
        return handed_in * ranks
    return handed_out * ranks if kind == "scatter" else handed_in


def _strided(arguments: Mapping[str, Any], place: str) -> list[int]:
    keys = ("Global rank start", "Global rank stride", "Group size")
    start, stride, size = (_whole(arguments, key, place) for key in keys)
    if not (0 < size <= _MOST_RANKS and stride > 0):
        raise ThzSyncError(f"{place}: the ranks of its group are missing")
    return list(range(start, start + size * stride, stride))


def _parts(arguments: Mapping[str, Any], total: int, ranks: int, place: str) -> tuple[int, ...]:
    """Bytes for every member, if an All-to-All has uneven parts."""
    try:
        splits = json.loads(str(arguments.get("In split size", "[]")))
    except (ValueError, RecursionError):
        splits = []
    if not splits:
        return ()
    if len(splits) != ranks or any(type(s) is not int or s < 0 for s in splits):
        raise ThzSyncError(f"{place}: its split sizes do not name one part per member")
    rows = sum(splits)
    return tuple(total * s // rows for s in splits) if rows else (0,) * ranks


def _whole(arguments: Mapping[str, Any], key: str, place: str) -> int:
    value = arguments.get(key)
    if type(value) is not int or not 0 <= value < _MOST_ELEMENTS:
        raise ThzSyncError(f"{place}: {key} is {value!r:.40}; it must be a whole number")
    return value


def _product(dims: Any, place: str) -> int:
    """Elements of a tensor, from its dimensions."""
    count = 1
    for size in dims if isinstance(dims, list) else [None]:
        if type(size) is not int or size < 0:
            raise ThzSyncError(f"{place}: its dimensions are missing; profile with record_shapes")
        count *= size
        if count > _MOST_ELEMENTS:
            raise ThzSyncError(f"{place}: dimensions beyond what a tensor can have")
    return count
