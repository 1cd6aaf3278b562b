"""A training graph as Chakra traces: one file per rack, as if it were one rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.files import dump_json, prepare_folder, write_atomically
from thzsync.importers.chakra import schema
from thzsync.importers.chakra.schema import CURRENT, NodeKind
from thzsync.importers.wire import put_bytes, put_double, put_frame, put_int, put_packed
from thzsync.workload import Compute, Event, Node, TrainingGraph

_VERSION: Final = "1.0.0"
"""The schema's release; 0.0.4 has the same layout."""
_TYPE_NUMBER: Final = {kind: number for number, kind in reversed(list(CURRENT.types.items()))}
_COLLECTIVE_NUMBER: Final = {
    kind: number for number, kind in reversed(list(CURRENT.collectives.items()))
}


@dataclass
class Exported:
    """Files by name, and what they cannot express."""

    prefix: str
    files: dict[str, bytes] = field(default_factory=dict)
    lost: int = 0
    """Dependencies between nodes without a common rack; a Chakra file cannot express them."""

    def write(self, folder: str | Path, force: bool = False) -> Path:
        """Write all files; ``force`` replaces an older trace of the same prefix."""
        target = prepare_folder(folder)
        older = [file for file in target.glob("*.et") if file.name.split(".")[0] == self.prefix]
        if older and not force:
            raise ThzSyncError(
                f"{target}: holds a trace {self.prefix!r}; name another folder or prefix, or "
                "replace it with --force"
            )
        for file in older:
            file.unlink()
        for name, content in self.files.items():
            write_atomically(target / name, content)
        return target


def export_chakra(graph: TrainingGraph, prefix: str = "trace") -> Exported:
    """Nodes of every rack in the current layout, with extra attributes of this package.

    Every reader finds types, sizes, groups and microseconds. This package also finds exact
    durations, uneven exchanges, roots and stages.
    """
    result = Exported(prefix, lost=_lost(graph))
    racks = sorted({int(rack) for node in graph.nodes for rack in node.racks})
    groups = _group_names(graph)
    for rack in racks:
        result.files[f"{prefix}.{rack}.et"] = _RackWriter(rack, groups).content(graph)
    named = {name: list(group) for group, name in groups.items()}
    result.files[f"{prefix}.json"] = (dump_json(named) + "\n").encode()
    return result


def _lost(graph: TrainingGraph) -> int:
    racks = [frozenset(node.racks.tolist()) for node in graph.nodes]
    return sum(racks[node.id].isdisjoint(racks[p]) for node in graph.nodes for p in node.after)


def _group_names(graph: TrainingGraph) -> dict[tuple[int, ...], str]:
    """Names from 1 on, because 0 means all ranks to some readers."""
    groups = dict.fromkeys(tuple(e.racks.tolist()) for e in graph.events if e.kind != "p2p")
    return {group: str(number) for number, group in enumerate(groups, start=1)}


class _RackWriter:
    """Writes the nodes of one rack."""

    def __init__(self, rack: int, groups: dict[tuple[int, ...], str]) -> None:
        self.rack = rack
        self.groups = groups
        self.ids: dict[int, list[int]] = {}
        """Nodes of the file by node of the graph: a P2P event may be several messages."""
        self.written = 0

    def content(self, graph: TrainingGraph) -> bytes:
        metadata = put_bytes(schema.METADATA_VERSION, _VERSION.encode())
        out = [put_frame(metadata)]
        mine = [graph.nodes[n] for n in graph.order.tolist() if self.rack in graph.nodes[n].racks]
        for node in mine:
            for kind, attributes in self._parts(node):
                out.append(put_frame(self._message(node, kind, attributes)))
        return b"".join(out)

    def _parts(self, node: Node) -> list[tuple[NodeKind, bytes]]:
        if isinstance(node, Compute):
            return [(NodeKind.COMPUTE, _double("duration_s", node.duration_s))]
        if node.kind == "p2p":
            return self._messages(node)
        return [(NodeKind.COLLECTIVE, self._collective(node))]

    def _messages(self, event: Event) -> list[tuple[NodeKind, bytes]]:
        demand = event.demand
        assert isinstance(demand, Transfer)
        parts = []
        for src, dst, size in _rows(demand):
            if self.rack in (src, dst) and size > 0:
                kind = NodeKind.SEND if src == self.rack else NodeKind.RECEIVE
                ends = _small("comm_src", src) + _small("comm_dst", dst)
                tag = _small("comm_tag", event.id)
                parts.append((kind, ends + _integer("comm_size", size) + tag))
        return parts

    def _collective(self, event: Event) -> bytes:
        number = _COLLECTIVE_NUMBER.get(event.kind)
        if number is None:
            raise ThzSyncError(f"{event.name}: Chakra knows no collective {event.kind!r}")
        group = tuple(event.racks.tolist())
        named = _integer("comm_type", number) + _text("pg_name", self.groups[group])
        demand = event.demand
        if isinstance(demand, Transfer):
            mine = demand.src == self.rack
            sizes = dict(
                zip(demand.dst[mine].tolist(), demand.size_bytes[mine].tolist(), strict=True)
            )
            parts = [sizes.get(rack, 0) for rack in group]
            values = put_packed(1, parts)
            listed = _attribute("send_bytes", put_bytes(schema.UINT64_LIST, values))
            return named + _integer("comm_size", sum(parts)) + listed
        size = demand.tensor_bytes
        own = size // len(group) if event.kind in ("all-gather", "gather") else size
        whole = _integer("comm_size", own) + _integer("tensor_bytes", size)
        return named + whole + _root(demand)

    def _message(self, node: Node, kind: NodeKind, attributes: bytes) -> bytes:
        number = self.written
        self.written += 1
        self.ids.setdefault(node.id, []).append(number)
        after = [n for p in node.after for n in self.ids.get(p, ())]
        duration_s = node.duration_s if isinstance(node, Compute) else 0.0
        label = node.label if isinstance(node, Event) else node.name
        return (
            put_int(schema.ID, number)
            + put_bytes(schema.NAME, label.encode())
            + put_int(schema.TYPE, _TYPE_NUMBER[kind])
            + put_packed(CURRENT.data_deps, after)
            + put_int(CURRENT.duration, round(duration_s * 1e6))
            + _ON_ACCELERATOR
            + attributes
            + _where(node)
        )


def _rows(demand: Transfer) -> Iterator[tuple[int, int, int]]:
    columns = (demand.src, demand.dst, demand.size_bytes)
    return zip(*(column.tolist() for column in columns), strict=True)


def _root(demand: Tensor) -> bytes:
    return b"" if demand.root is None else _integer("comm_root", demand.root)


def _where(node: Node) -> bytes:
    late = isinstance(node, Event) and node.release_s > 0
    return (
        _integer("stage", node.stage)
        + _text("phase", node.phase.value)
        + _integer("microbatch", node.microbatch)
        + (_double("release_s", node.release_s) if isinstance(node, Event) and late else b"")
    )


def _attribute(name: str, value: bytes) -> bytes:
    return put_bytes(schema.ATTRIBUTE, put_bytes(1, name.encode()) + value)


def _integer(name: str, value: int) -> bytes:
    return _attribute(name, put_int(schema.INT64, value))


_ON_ACCELERATOR: Final = _attribute("is_cpu_op", put_int(schema.BOOL, 0))
"""Without it, Chakra's feeder takes a node for the host's, which sends nothing."""


def _small(name: str, value: int) -> bytes:
    """An attribute that Chakra's feeder reads as int32; from any other type it reads 0."""
    return _attribute(name, put_int(schema.INT32, value))


def _double(name: str, value: float) -> bytes:
    return _attribute(name, put_double(schema.DOUBLE, value))


def _text(name: str, value: str) -> bytes:
    return _attribute(name, put_bytes(schema.STRING, value.encode()))
