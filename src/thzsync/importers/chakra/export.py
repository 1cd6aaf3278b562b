"""A training graph as Chakra traces: one file per rack, as if it were one rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from thzsync.collectives import Transfer
from thzsync.errors import ThzSyncError
from thzsync.files import dump_json, prepare_folder, write_atomically
from thzsync.importers.chakra.schema import CURRENT, NodeKind, message_classes
from thzsync.workload import Compute, Event, Node, TrainingGraph

_VERSION: Final = b"1.0.0"
"""The schema's release; 0.0.4 has the same layout."""
_TYPE_NUMBER: Final = {kind: number for number, kind in reversed(list(CURRENT.types.items()))}
_COLLECTIVE_NUMBER: Final = {
    kind: number for number, kind in reversed(list(CURRENT.collectives.items()))
}
_FIELD: Final = {bool: "bool_val", int: "int64_val", float: "double_val"}
_SMALL: Final = ("comm_src", "comm_dst", "comm_tag")
"""Attributes that Chakra's feeder reads as int32; from any other type it reads 0."""

Attributes = dict[str, bool | int | float | str | list[int]]


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
    racks = [frozenset(node.racks.tolist()) for node in graph.nodes]
    lost = sum(racks[node.id].isdisjoint(racks[p]) for node in graph.nodes for p in node.after)
    # Names from 1 on, because 0 means all ranks to some readers.
    groups = dict.fromkeys(tuple(e.racks.tolist()) for e in graph.events if e.kind != "p2p")
    names = {group: str(number) for number, group in enumerate(groups, start=1)}
    result = Exported(prefix, lost=lost)
    for rack in sorted(frozenset().union(*racks)):
        mine = [graph.nodes[n] for n in graph.order.tolist() if rack in racks[n]]
        result.files[f"{prefix}.{rack}.et"] = _rack_file(rack, mine, names)
    named = {name: list(group) for group, name in names.items()}
    result.files[f"{prefix}.json"] = (dump_json(named) + "\n").encode()
    return result


def _rack_file(rack: int, nodes: list[Node], groups: dict[tuple[int, ...], str]) -> bytes:
    messages = [message_classes()["Metadata"](version=_VERSION)]
    ids: dict[int, list[int]] = {}  # of the file, by node: a P2P event may be several messages
    for node in nodes:
        for kind, attributes in _parts(node, rack, groups):
            message = _message(node, kind, len(messages) - 1, ids)
            # Without is_cpu_op, Chakra's feeder takes a node for the host's, which sends nothing.
            for name, value in ({"is_cpu_op": False} | attributes | _where(node)).items():
                _add_attribute(message, name, value)
            messages.append(message)
    return b"".join(_delimited(message.SerializeToString()) for message in messages)


def _delimited(content: bytes) -> bytes:
    """A message after its length, seven bits per byte."""
    prefix, size = bytearray(), len(content)
    while size >= 0x80:
        prefix.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((*prefix, size)) + content


def _message(node: Node, kind: NodeKind, number: int, ids: dict[int, list[int]]) -> Any:
    ids.setdefault(node.id, []).append(number)
    label = node.label if isinstance(node, Event) else node.name
    return message_classes()["Node"](
        id=number,
        name=label.encode(),
        type=_TYPE_NUMBER[kind],
        data_deps=[n for p in node.after for n in ids.get(p, ())],
        duration_micros=round(node.duration_s * 1e6) if isinstance(node, Compute) else 0,
    )


def _add_attribute(message: Any, name: str, value: Any) -> None:
    attribute = message.attr.add(name=name.encode())
    if isinstance(value, str):
        attribute.string_val = value.encode()
    elif isinstance(value, list):
        attribute.uint64_list.values.extend(value)
    else:
        setattr(attribute, "int32_val" if name in _SMALL else _FIELD[type(value)], value)


def _parts(
    node: Node, rack: int, groups: dict[tuple[int, ...], str]
) -> list[tuple[NodeKind, Attributes]]:
    if isinstance(node, Compute):
        return [(NodeKind.COMPUTE, {"duration_s": float(node.duration_s)})]
    if node.kind == "p2p":
        assert isinstance(node.demand, Transfer)
        return [
            (
                NodeKind.SEND if src == rack else NodeKind.RECEIVE,
                {"comm_src": src, "comm_dst": dst, "comm_size": size, "comm_tag": node.id},
            )
            for src, dst, size in _rows(node.demand)
            if rack in (src, dst) and size > 0
        ]
    return [(NodeKind.COLLECTIVE, _collective(node, rack, groups))]


def _collective(event: Event, rack: int, groups: dict[tuple[int, ...], str]) -> Attributes:
    number = _COLLECTIVE_NUMBER.get(event.kind)
    if number is None:
        raise ThzSyncError(f"{event.name}: Chakra knows no collective {event.kind!r}")
    group, demand = tuple(event.racks.tolist()), event.demand
    named: Attributes = {"comm_type": number, "pg_name": groups[group]}
    if isinstance(demand, Transfer):
        sizes = {dst: size for src, dst, size in _rows(demand) if src == rack}
        parts = [sizes.get(member, 0) for member in group]
        return named | {"comm_size": sum(parts), "send_bytes": parts}
    size = demand.tensor_bytes
    own = size // len(group) if event.kind in ("all-gather", "gather") else size
    root: Attributes = {} if demand.root is None else {"comm_root": demand.root}
    return named | {"comm_size": own, "tensor_bytes": size} | root


def _rows(demand: Transfer) -> list[tuple[int, int, int]]:
    columns = (demand.src, demand.dst, demand.size_bytes)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _where(node: Node) -> Attributes:
    where: Attributes = {
        "stage": node.stage, "phase": node.phase.value, "microbatch": node.microbatch
    }  # fmt: skip
    if isinstance(node, Event) and node.release_s > 0:
        where["release_s"] = float(node.release_s)
    return where
