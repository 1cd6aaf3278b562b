"""Chakra execution traces: one file per rank."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import by_rank, rank_in_name
from thzsync.importers.chakra.nodes import ChakraFile, ChakraNode, read_chakra
from thzsync.importers.chakra.schema import NodeKind
from thzsync.importers.groups import Groups, members, pytorch_groups, read_groups
from thzsync.importers.importer import ReadOptions
from thzsync.importers.ranks import Call, Message, Operation, Recording, Spot, Work, known_kind
from thzsync.importers.rescale import check_world
from thzsync.workload import Phase

_SUFFIXES: Final = (".et", ".et.gz", ".eg")
_SYMBOLIC: Final = "symbolic_tensor_network"
"""Schema whose sizes count elements, and whose names contain the micro-batch."""
_SYMBOLIC_ELEMENT_BYTES: Final = 2
_MICROBATCH: Final = re.compile(r"(?:\b|_)mb(\d{1,6})\.")
_PHASES: Final = {phase.value: phase for phase in Phase}
_MOST_BYTES: Final = 1 << 53


class ChakraImporter:
    """Reads ``PREFIX.RANK.et``."""

    name = "chakra"
    title = "Chakra execution traces"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Recognise a file by its name; the format has no magic number."""
        return path.name.lower().endswith(_SUFFIXES)

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        """The nodes of all ranks as operations."""
        traces = _sorted(paths)
        world, first = tuple(sorted(traces)), min(traces.values())
        if options.world is not None:
            check_world(options.world, max(traces))
            world = tuple(range(options.world))
        groups = _given_groups(paths, options)
        passed_over: Counter[str] = Counter()
        ranks = {
            rank: _RankReader(read_chakra(path), rank, groups, world, options, passed_over).read()
            for rank, path in sorted(traces.items())
        }
        named = {p.group for parts in ranks.values() for p in parts if isinstance(p, Call)}
        if options.world is None and named == {tuple(ranks)} and len(ranks) == 1:
            raise ThzSyncError(
                f"{first}: no other rank takes part in its collectives; give the files of all "
                "ranks, or let absent ranks do as this one with --world"
            )
        return Recording(str(first), ranks, passed_over)


def _sorted(paths: Sequence[Path]) -> dict[int, Path]:
    traces: dict[int, Path] = {}
    for path in paths:
        if path.suffix != ".json":
            rank = rank_in_name(path)
            by_rank(traces, 0 if rank is None and len(paths) == 1 else rank, path)
    if not traces:
        raise ThzSyncError("no Chakra trace given; name the .et files of all ranks")
    return traces


def _given_groups(paths: Sequence[Path], options: ReadOptions) -> Groups:
    """Groups from --groups, from a JSON file among the traces, or from PREFIX.json."""
    given = options.groups or next((path for path in paths if path.suffix == ".json"), None)
    if given is not None:
        return read_groups(given)
    try:
        return read_groups(paths[0].with_name(paths[0].name.split(".")[0] + ".json"))
    except ThzSyncError:  # there is none, or it is something else
        return {}


class _RankReader:
    """Turns the nodes of one file into operations."""

    def __init__(
        self, file: ChakraFile, rank: int, groups: Groups, world: tuple[int, ...],
        options: ReadOptions, passed_over: Counter[str],
    ) -> None:  # fmt: skip
        self.file, self.rank, self.world = file, rank, world
        self.flops, self.passed_over = options.flops, passed_over
        self.symbolic = file.schema == _SYMBOLIC
        symbolic_bytes = _SYMBOLIC_ELEMENT_BYTES if self.symbolic else 1
        self.unit_bytes = options.element_bytes or symbolic_bytes
        # PyTorch's control dependencies are the call stack, not an order. A child and its parent
        # name each other, and many parents are absent.
        self.by_data = any("rf_id" in node.attributes for node in file.nodes)
        inits = (n.inputs for n in file.nodes if "process_group:init" in n.name and n.inputs)
        self.groups = pytorch_groups(next(inits, ""), world, str(file.path)) | groups

    def read(self) -> list[Operation]:
        self.position: dict[int, int] = {}
        for place, node in enumerate(self.file.nodes):
            if self.position.setdefault(node.id, place) != place:
                raise ThzSyncError(
                    f"{self.file.path}: two nodes have id {node.id}; ids must differ"
                )
        return [self._operation(node) for node in self.file.nodes]

    def _operation(self, node: ChakraNode) -> Operation:
        kind = self.file.layout.types.get(node.type)
        after = self._after(node)
        launches = node.whole("is_cpu_op") and "comm_size" not in node.attributes
        if kind is NodeKind.COMPUTE or (kind is NodeKind.COLLECTIVE and launches):
            return Work(after, self._duration_s(node), node.name, self._spot(node))
        if kind is NodeKind.COLLECTIVE:
            return self._call(node, after)
        if kind in (NodeKind.SEND, NodeKind.RECEIVE):
            return self._message(node, after, kind is NodeKind.SEND)
        self.passed_over[f"{kind or f'type {node.type}'} nodes"] += 1
        return Work(after, 0.0, node.name)  # takes no time, but others may wait for it

    def _after(self, node: ChakraNode) -> tuple[int, ...]:
        found: dict[int, None] = {}
        if self.by_data and node.ctrl_deps:
            self.passed_over["call-stack dependencies"] += len(node.ctrl_deps)
        for dep in node.data_deps if self.by_data else (*node.data_deps, *node.ctrl_deps):
            place = self.position.get(dep)
            if place is None:
                self.passed_over["dependencies on absent nodes"] += 1
            elif dep != node.id:
                found[place] = None
        return tuple(found)

    def _duration_s(self, node: ChakraNode) -> float:
        exact = node.number("duration_s")
        if exact is not None:
            return exact
        return node.duration_us * 1e-6 or node.whole("num_ops") / self.flops

    def _spot(self, node: ChakraNode) -> Spot:
        phase = _PHASES.get(node.text("phase"), Phase.FORWARD)
        stage = node.whole("stage") if "stage" in node.attributes else None
        named = _MICROBATCH.search(node.name) if self.symbolic else None
        return Spot(stage, phase, int(named[1]) if named else node.whole("microbatch"))

    def _place(self, node: ChakraNode) -> str:
        return f"{self.file.path}: node {node.id} ({node.name[:40]!r})"

    def _size_bytes(self, node: ChakraNode) -> int:
        size = node.whole("comm_size", -1) * self.unit_bytes
        if not 0 <= size <= _MOST_BYTES:
            found = node.attributes.get("comm_size", "nothing")
            raise ThzSyncError(f"{self._place(node)}: comm_size is {found}; it must be 0 or more")
        return size

    def _call(self, node: ChakraNode, after: tuple[int, ...]) -> Call:
        place, number = self._place(node), node.whole("comm_type")
        kind = known_kind(self.file.layout.collectives.get(number), f"type {number}", place)
        channel = node.text("pg_name")
        group = members(channel, self.groups, self.world, place)
        if self.rank not in group:
            raise ThzSyncError(f"{place}: rank {self.rank} is not in its group {channel!r}")
        size = self._size_bytes(node)
        if kind in ("all-gather", "gather"):
            size *= len(group)  # the size is that of one rank's part
        size = node.whole("tensor_bytes", size)
        parts = node.attributes.get("send_bytes", ())
        if not isinstance(parts, tuple) or (parts and len(parts) != len(group)):
            raise ThzSyncError(f"{place}: send_bytes must name one size per member of the group")
        root = node.whole("comm_root") if "comm_root" in node.attributes else None
        if root is not None and root not in group:
            raise ThzSyncError(f"{place}: its root, rank {root}, is not in its group {channel!r}")
        return Call(
            after, kind, group, size, channel, root, parts, node.name,
            node.duration_us * 1e-6 or None, node.number("release_s") or 0.0, self._spot(node),
        )  # fmt: skip

    def _message(self, node: ChakraNode, after: tuple[int, ...], sends: bool) -> Message:
        key = "comm_dst" if sends else "comm_src"
        if key not in node.attributes:
            raise ThzSyncError(
                f"{self._place(node)}: names no {key}; PyTorch's converter leaves it out: import "
                "the Kineto traces of the same run instead"
            )
        return Message(
            after, sends, node.whole(key), self._size_bytes(node), node.whole("comm_tag"),
            node.name, node.duration_us * 1e-6 or None, node.number("release_s") or 0.0,
            self._spot(node),
        )  # fmt: skip
