"""Field numbers of Chakra's execution traces, by edition of the schema.

A file is a sequence of messages, each after its length: metadata first (not in 0.0.1), then nodes.
The numbers of node types and collectives differ between editions, so the layout is found first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


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
    """One edition of the node message; absent fields have number 0."""

    name: str
    types: Mapping[int, NodeKind]
    collectives: Mapping[int, str]
    data_deps: int
    ctrl_deps: int = 0
    duration: int = 0
    inputs: int = 0
    attributes: int = 0
    integers: frozenset[int] = frozenset()
    """Fields of an attribute that hold a varint."""
    texts: frozenset[int] = frozenset()
    """Fields of an attribute that hold a text."""
    plain: Mapping[int, str] = field(default_factory=dict)
    """Fields of the node that later became attributes."""


ID: Final = 1
NAME: Final = 2
TYPE: Final = 3
DOUBLE: Final = 3
"""Field of an attribute that holds a double."""
UINT64_LIST: Final = 14
"""Field of an attribute that holds a message with a packed list of varints in field 1."""
INT32: Final = 7
INT64: Final = 9
UINT64: Final = 13
BOOL: Final = 27
STRING: Final = 29
ATTRIBUTE: Final = 10
"""Field of a node that holds an attribute, in the current layout."""
METADATA_VERSION: Final = 1
METADATA_ATTRIBUTE: Final = 2

_TYPES: Final = {
    1: NodeKind.METADATA, 2: NodeKind.MEMORY, 3: NodeKind.MEMORY, 4: NodeKind.COMPUTE,
    5: NodeKind.SEND, 6: NodeKind.RECEIVE, 7: NodeKind.COLLECTIVE,
}  # fmt: skip

_COLLECTIVES: Final = (
    "allreduce", "reduce", "all-gather", "gather", "scatter", "broadcast", "a2a", "reduce-scatter",
    "reduce-scatter", "barrier",
)  # fmt: skip
CURRENT: Final = Layout(
    "0.0.4 and later",
    _TYPES,
    dict(enumerate(_COLLECTIVES)),
    data_deps=5,
    ctrl_deps=4,
    duration=7,
    inputs=8,
    attributes=ATTRIBUTE,
    integers=frozenset((INT32, INT64, 11, UINT64, BOOL)),
    texts=frozenset((STRING,)),
)
EARLY: Final = Layout(
    "0.0.2 or 0.0.3",
    _TYPES,
    {0: "allreduce", 1: "a2a", 2: "all-gather", 3: "reduce-scatter", 4: "broadcast"},
    data_deps=4,
    inputs=5,
    attributes=11,
    integers=frozenset((6, 7)),
    texts=frozenset((8,)),
)
FIRST: Final = Layout(
    "0.0.1",
    {number - 1: kind for number, kind in _TYPES.items() if number > 1},
    {1: "allreduce", 2: "a2a", 3: "all-gather", 4: "reduce-scatter"},
    data_deps=4,
    duration=7,
    plain={
        12: "num_ops", 13: "comm_type", 15: "pg_name", 16: "comm_src", 17: "comm_dst",
        18: "comm_size", 19: "comm_tag",
    },
)  # fmt: skip

WANTED: Final = {
    name.encode(): name
    for name in (
        "is_cpu_op", "num_ops", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag",
        "pg_name", "rf_id", "schema", "stage", "phase", "microbatch", "duration_s", "tensor_bytes",
        "send_bytes", "comm_root", "release_s",
    )
}  # fmt: skip
"""Known attributes; the last seven are this package's own."""
