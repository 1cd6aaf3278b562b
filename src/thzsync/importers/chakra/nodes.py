"""Chakra's nodes from bytes, in any edition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_bytes
from thzsync.importers.chakra import schema
from thzsync.importers.chakra.schema import Layout, NodeKind, message_classes

Value = int | float | str | tuple[int, ...]
_WANTED: Final = {
    name.encode(): name
    for name in (
        "is_cpu_op", "num_ops", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag",
        "pg_name", "rf_id", "schema", "stage", "phase", "microbatch", "duration_s", "tensor_bytes",
        "send_bytes", "comm_root", "release_s",
    )
}  # fmt: skip
"""Attributes that are read; from ``stage`` on, they are this package's own."""
_LOOKED_AT: Final = 64
"""Number of nodes that are read to find the edition of a file."""
_LONGEST_GROUPS: Final = 1 << 20
"""Longest text of a metadata node that is kept [bytes]."""
_LONGEST_MESSAGE: Final = 1 << 24
"""Longest message; decoded, it may take fifty times the memory [bytes]."""
_MOST_MESSAGES: Final = 1 << 22


@dataclass(slots=True)
class ChakraNode:
    """One node as in the file."""

    id: int
    name: str
    type: int
    data_deps: tuple[int, ...]
    ctrl_deps: tuple[int, ...]
    duration_us: int
    attributes: dict[str, Value] = field(default_factory=dict)
    inputs: str = ""
    """Values of a metadata node's inputs, where PyTorch keeps its groups."""

    def whole(self, name: str, default: int = 0) -> int:
        """An attribute that is a whole number."""
        value = self.attributes.get(name, default)
        return value if isinstance(value, int) else default

    def number(self, name: str) -> float | None:
        """An attribute that is a number."""
        value = self.attributes.get(name)
        return value if isinstance(value, (int, float)) else None

    def text(self, name: str) -> str:
        """An attribute that is a text."""
        return str(self.attributes.get(name, ""))


@dataclass(frozen=True, eq=False)
class ChakraFile:
    """One rank's file."""

    path: Path
    layout: Layout
    schema: str
    """Schema as named by the metadata, or an empty text."""
    nodes: list[ChakraNode]


class _Damaged(ValueError):
    """The bytes are no trace; the text says what was found."""


def read_chakra(path: Path) -> ChakraFile:
    """Decode a file of any edition; an error names the damaged message."""
    from google.protobuf.message import DecodeError

    data = read_bytes(path)
    nodes: list[ChakraNode] = []
    try:
        layout = _find_layout(data)
        messages, named = _messages(data), ""
        if layout is not schema.FIRST:
            metadata = message_classes()["Metadata"].FromString(next(messages, b""))
            named = str(_attributes(metadata).get("schema", ""))
        nodes.extend(_node(message, layout) for message in messages)
    except (DecodeError, _Damaged) as error:
        found = error if isinstance(error, _Damaged) else "a damaged message"
        raise ThzSyncError(
            f"{path}: after {len(nodes)} nodes: found {found}; the file is truncated, or not a "
            "Chakra trace"
        ) from None
    return ChakraFile(path, layout, named, nodes)


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of a file; lengths are checked before bytes are copied."""
    at = count = 0
    while at < len(data):
        size, at = _length(data, at)
        most = min(_LONGEST_MESSAGE, len(data) - at)
        if size > most:
            raise _Damaged(f"a message of {size} bytes where at most {most} are possible")
        count += 1
        if count > _MOST_MESSAGES:
            raise _Damaged(f"more than {_MOST_MESSAGES} messages")
        yield data[at : at + size]
        at += size


def _length(data: bytes, at: int) -> tuple[int, int]:
    """A varint of at most ten bytes and the position after it."""
    value = 0
    for position, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            return value, at + position + 1
    raise _Damaged("a length without an end")


def _find_layout(data: bytes) -> Layout:
    """The edition of a file: 0.0.1 begins with a node, 0.0.2 has attributes in field 11."""
    classes, messages = message_classes(), _messages(data)
    if classes[schema.FIRST.node].FromString(next(messages, b"")).HasField("id"):
        return schema.FIRST
    early = classes[schema.EARLY.node]
    begin = (message for _, message in zip(range(_LOOKED_AT), messages, strict=False))
    found = any(early.FromString(message).attr for message in begin)
    return schema.EARLY if found else schema.CURRENT


def _node(content: bytes, layout: Layout) -> ChakraNode:
    message = message_classes()[layout.node].FromString(content)
    _refuse_other_types(message)
    values = {field.name: value for field, value in message.ListFields()}
    inputs = b""
    if layout.types.get(message.type) is NodeKind.METADATA and "inputs" in values:
        inputs = message_classes()["Inputs"].FromString(values["inputs"]).values
    return ChakraNode(
        message.id,
        _text(message.name),
        message.type,
        tuple(message.data_deps),
        tuple(values.get("ctrl_deps", ())),
        values.get("duration_micros", 0),
        {name: values[name] for name in _WANTED.values() if name in values}
        if layout is schema.FIRST
        else _attributes(message),
        _text(inputs) if len(inputs) <= _LONGEST_GROUPS else "",
    )


def _refuse_other_types(message: Any) -> None:
    """Refuse known fields of another wire type, which protobuf takes for unknown fields."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    for unknown in UnknownFieldSet(message):
        known = message.DESCRIPTOR.fields_by_number.get(unknown.field_number)
        if known is not None:
            raise _Damaged(f"a node's {known.name} of wire type {unknown.wire_type}")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _attributes(message: Any) -> dict[str, Value]:
    """Known attributes; an absent value is the default, 0."""
    found: dict[str, Value] = {}
    for attribute in message.attr:
        name = _WANTED.get(attribute.name)
        if name is not None:
            kind = attribute.WhichOneof("value")
            value: Any = getattr(attribute, kind) if kind else 0
            if kind == "string_val":
                value = _text(value)
            elif kind == "uint64_list":
                value = tuple(value.values)
            found[name] = value
    return found
