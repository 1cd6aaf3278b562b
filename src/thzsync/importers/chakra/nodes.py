"""Chakra's nodes from bytes, in any layout."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_bytes
from thzsync.importers.chakra.schema import (
    CURRENT,
    DOUBLE,
    EARLY,
    FIRST,
    ID,
    METADATA_ATTRIBUTE,
    NAME,
    TYPE,
    UINT64_LIST,
    WANTED,
    Layout,
    NodeKind,
)  # fmt: skip
from thzsync.importers.wire import BYTES, FIXED64, VARINT, WireError, fields, frames, packed, signed

Value = int | float | str | tuple[int, ...]
_LOOKED_AT = 64
"""Number of nodes that are read to find the layout of a file."""
_LONGEST_GROUPS = 1 << 20
"""Longest text of a metadata node that is kept [bytes]."""


@dataclass(slots=True)
class ChakraNode:
    """One node as in the file."""

    id: int = 0
    name: str = ""
    type: int = 0
    data_deps: list[int] = field(default_factory=list)
    ctrl_deps: list[int] = field(default_factory=list)
    duration_us: int = 0
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
        value = self.attributes.get(name, "")
        return value if isinstance(value, str) else str(value)


@dataclass(frozen=True, eq=False)
class ChakraFile:
    """One rank's file."""

    path: Path
    layout: Layout
    schema: str
    """Schema as named by the metadata, or an empty text."""
    nodes: list[ChakraNode]


def read_chakra(path: Path) -> ChakraFile:
    """Decode a file of any edition; an error names the damaged frame."""
    data = read_bytes(path)
    nodes: list[ChakraNode] = []
    try:
        spans = list(frames(data))
        layout = find_layout(data, spans)
        first = 0 if layout is FIRST else 1
        schema = "" if layout is FIRST or not spans else _schema(data, *spans[0])
        for at, end in spans[first:]:
            nodes.append(_node(data, at, end, layout))
    except WireError as error:
        raise ThzSyncError(
            f"{path}: after {len(nodes)} nodes: found {error}; the file is truncated, or not a "
            "Chakra trace"
        ) from None
    return ChakraFile(path, layout, schema, nodes)


def find_layout(data: bytes, spans: list[tuple[int, int]]) -> Layout:
    """The edition of a file: 0.0.1 begins with a node, 0.0.2 has attributes in field 11."""
    if not spans:
        return CURRENT
    for number, wire, _, _ in fields(data, *spans[0]):
        if number == ID and wire == VARINT:
            return FIRST
        break
    for at, end in spans[1 : _LOOKED_AT + 1]:
        for number, _, _, _ in fields(data, at, end):
            if number == EARLY.attributes:
                return EARLY
    return CURRENT


def _schema(data: bytes, at: int, end: int) -> str:
    for number, wire, value, stop in fields(data, at, end):
        if number == METADATA_ATTRIBUTE and wire == BYTES:
            name, found = _attribute(data, value, stop, CURRENT)
            if name == "schema":
                return str(found)
    return ""


def _node(data: bytes, at: int, end: int, layout: Layout) -> ChakraNode:
    node = ChakraNode()
    for number, wire, value, stop in fields(data, at, end):
        if number == ID:
            _expect(wire, VARINT, "id")
            node.id = value
        elif number == NAME:
            _expect(wire, BYTES, "name")
            node.name = _text(data, value, stop)
        elif number == TYPE:
            _expect(wire, VARINT, "type")
            node.type = value
        elif number == layout.data_deps:
            node.data_deps.extend(_numbers(data, wire, value, stop))
        elif number == layout.ctrl_deps:
            node.ctrl_deps.extend(_numbers(data, wire, value, stop))
        elif number == layout.duration:
            _expect(wire, VARINT, "duration")
            node.duration_us = value
        elif number == layout.attributes and wire == BYTES:
            name, found = _attribute(data, value, stop, layout)
            if name:
                node.attributes[name] = found
        elif number in layout.plain:
            plain = _text(data, value, stop) if wire == BYTES else signed(value)
            node.attributes[layout.plain[number]] = plain
        elif number == layout.inputs and layout.types.get(node.type) is NodeKind.METADATA:
            node.inputs = _values(data, value, stop) if wire == BYTES else ""
    return node


def _expect(wire: int, wanted: int, what: str) -> None:
    if wire != wanted:
        raise WireError(f"a node's {what} of wire type {wire}")


def _numbers(data: bytes, wire: int, value: int, stop: int) -> Iterator[int]:
    """A repeated number, packed in one field or in one field each."""
    if wire == VARINT:
        return iter((value,))
    _expect(wire, BYTES, "dependency")
    return packed(data, value, stop)


def _text(data: bytes, at: int, end: int) -> str:
    return data[at:end].decode("utf-8", "replace")


def _values(data: bytes, at: int, end: int) -> str:
    for number, wire, value, stop in fields(data, at, end):
        if number == 1 and wire == BYTES and stop - value <= _LONGEST_GROUPS:
            return _text(data, value, stop)
    return ""


def _attribute(data: bytes, at: int, end: int, layout: Layout) -> tuple[str, Value]:
    """Name and value of a known attribute; an absent value is the default, 0."""
    name = ""
    result: Value = 0
    for number, wire, value, stop in fields(data, at, end):
        if number == 1 and wire == BYTES:
            name = WANTED.get(data[value:stop], "")
            if not name:
                return "", 0
        elif number in layout.integers and wire == VARINT:
            result = signed(value)
        elif number in layout.texts and wire == BYTES:
            result = _text(data, value, stop)
        elif layout is CURRENT and number == DOUBLE and wire == FIXED64:
            result = struct.unpack("<d", data[value:stop])[0]
        elif layout is CURRENT and number == UINT64_LIST and wire == BYTES:
            result = tuple(_list(data, value, stop))
    return name, result


def _list(data: bytes, at: int, end: int) -> Iterator[int]:
    for number, wire, value, stop in fields(data, at, end):
        if number == 1:
            yield from _numbers(data, wire, value, stop)
