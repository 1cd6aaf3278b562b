"""The messages of Chakra's execution traces, by edition of the schema, as far as they are used.

The schema is built for the ``protobuf`` library from the tables here. A file is a sequence of
messages, each after its length: metadata first (not in 0.0.1), then nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final


class NodeKind(StrEnum):
    """Type of a node, independent of its number in an edition."""

    METADATA = "metadata"
    MEMORY = "memory"
    COMPUTE = "compute"
    SEND = "send"
    RECEIVE = "receive"
    COLLECTIVE = "collective"


@dataclass(frozen=True)
class Layout:
    """One edition of the schema. The numbers of node types and collectives depend on it."""

    node: str
    """Name of its node message."""
    types: Mapping[int, NodeKind]
    collectives: Mapping[int, str]


_TYPES: Final = {
    1: NodeKind.METADATA, 2: NodeKind.MEMORY, 3: NodeKind.MEMORY, 4: NodeKind.COMPUTE,
    5: NodeKind.SEND, 6: NodeKind.RECEIVE, 7: NodeKind.COLLECTIVE,
}  # fmt: skip
_COLLECTIVES: Final = (
    "allreduce", "reduce", "all-gather", "gather", "scatter", "broadcast", "a2a", "reduce-scatter",
    "reduce-scatter", "barrier",
)  # fmt: skip
CURRENT: Final = Layout("Node", _TYPES, dict(enumerate(_COLLECTIVES)))
"""0.0.4 and later."""
EARLY: Final = Layout(
    "EarlyNode",
    _TYPES,
    {0: "allreduce", 1: "a2a", 2: "all-gather", 3: "reduce-scatter", 4: "broadcast"},
)
"""0.0.2 and 0.0.3."""
FIRST: Final = Layout(
    "FirstNode",
    {number - 1: kind for number, kind in _TYPES.items() if number > 1},
    {1: "allreduce", 2: "a2a", 3: "all-gather", 4: "reduce-scatter"},
)
"""0.0.1, which has fields where later editions have attributes."""

_NODE: Final = {"id": (1, "uint64"), "name": (2, "bytes"), "type": (3, "uint64")}
# Texts are bytes, because a text that is not UTF-8 is no reason to refuse a trace. Unsigned values
# of attributes are read as signed ones, because some tools write -1 into them.
_MESSAGES: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "Metadata": {"version": (1, "bytes"), "attr": (2, "Attribute*")},
    "Inputs": {"values": (1, "bytes")},
    "Uint64List": {"values": (1, "uint64*")},
    "Attribute": {
        "name": (1, "bytes"), "double_val": (3, "double"), "int32_val": (7, "int32"),
        "int64_val": (9, "int64"), "uint32_val": (11, "int64"), "uint64_val": (13, "int64"),
        "uint64_list": (14, "Uint64List"), "bool_val": (27, "bool"), "string_val": (29, "bytes"),
    },
    "EarlyAttribute": {
        "name": (1, "bytes"), "uint_val": (6, "int64"), "int_val": (7, "int64"),
        "string_val": (8, "bytes"),
    },
    "Node": {
        **_NODE, "ctrl_deps": (4, "uint64*"), "data_deps": (5, "uint64*"),
        "duration_micros": (7, "uint64"), "inputs": (8, "bytes"), "attr": (10, "Attribute*"),
    },
    "EarlyNode": {
        **_NODE, "data_deps": (4, "uint64*"), "inputs": (5, "bytes"),
        "attr": (11, "EarlyAttribute*"),
    },
    "FirstNode": {
        **_NODE, "data_deps": (4, "uint64*"), "duration_micros": (7, "uint64"),
        "num_ops": (12, "int64"), "comm_type": (13, "int64"), "pg_name": (15, "int64"),
        "comm_src": (16, "int64"), "comm_dst": (17, "int64"), "comm_size": (18, "int64"),
        "comm_tag": (19, "int64"),
    },
}  # fmt: skip
"""Number and type of the fields of every message; a star means repeated."""


@cache
def message_classes() -> Mapping[str, Any]:
    """A class for every message; protobuf is imported only when a trace is read or written."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="chakra", package="chakra")
    scalars = descriptor_pb2.FieldDescriptorProto.Type
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for key, (number, declared) in fields.items():
            field = message.field.add(name=key, number=number, label=3 if "*" in declared else 1)
            kind = declared.rstrip("*")
            if kind in _MESSAGES:
                field.type, field.type_name = scalars.Value("TYPE_MESSAGE"), f".chakra.{kind}"
            else:
                field.type = scalars.Value(f"TYPE_{kind.upper()}")
                field.options.packed = field.label == 3
        if name.endswith("Attribute"):  # of several values, the last one counts
            message.oneof_decl.add(name="value")
            for field in message.field[1:]:
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = message_factory.GetMessageClassesForFiles([file.name], pool)
    return {name.removeprefix("chakra."): made for name, made in found.items()}
