"""The part of the wire format of protocol buffers that traces need.

A message is a sequence of fields. A field is a key (number and wire type) and a varint, eight
bytes, four bytes, or a length and that many bytes. Every length is checked before bytes are copied,
so a file never needs more memory than it has bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Final

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
_LONGEST: Final = 10
"""Longest varint of 64 bits [bytes]."""


class WireError(ValueError):
    """The bytes are no message; the text says what was found."""


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned varint and the position after it."""
    value = shift = 0
    for position in range(at, min(end, at + _LONGEST)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, position + 1
        shift += 7
    raise WireError("a number that never ends" if end - at >= _LONGEST else "the end of the file")


def frames(data: bytes) -> Iterator[tuple[int, int]]:
    """Begin and end of every message of a file; each follows its length."""
    at, end = 0, len(data)
    while at < end:
        size, at = varint(data, at, end)
        if size > end - at:
            raise WireError(f"a message of {size} bytes where {end - at} are left")
        yield at, at + size
        at += size


def fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, value, end): a varint's value, or begin and end of a field's bytes."""
    while at < end:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = varint(data, at, end)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise WireError("a field without a number")
        if wire == VARINT:
            value, at = varint(data, at, end)
            yield number, wire, value, at
            continue
        size = _size(wire)
        if size < 0:
            size, at = varint(data, at, end)
        if size > end - at:
            raise WireError(f"a field of {size} bytes where {end - at} are left")
        yield number, wire, at, at + size
        at += size


def _size(wire: int) -> int:
    """Bytes of a field of this wire type; -1 if its length comes first."""
    if wire == BYTES:
        return -1
    if wire == FIXED64:
        return 8
    if wire == FIXED32:
        return 4
    raise WireError(f"a field of wire type {wire}")


def packed(data: bytes, at: int, end: int) -> Iterator[int]:
    """The varints of a packed list."""
    while at < end:
        value, at = varint(data, at, end)
        yield value


def signed(value: int) -> int:
    """An int32 or int64, from 64 bits of two's complement."""
    return value - (1 << 64) if value >> 63 else value


def put_varint(value: int) -> bytes:
    """An integer as a varint, in two's complement if negative."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def put_int(number: int, value: int) -> bytes:
    """A varint field."""
    return put_varint(number << 3 | VARINT) + put_varint(value)


def put_bytes(number: int, value: bytes) -> bytes:
    """A field of bytes: a text, a message or a packed list."""
    return put_varint(number << 3 | BYTES) + put_varint(len(value)) + value


def put_double(number: int, value: float) -> bytes:
    """A field of eight bytes."""
    return put_varint(number << 3 | FIXED64) + struct.pack("<d", value)


def put_packed(number: int, values: Iterable[int]) -> bytes:
    """A packed list of varints; no bytes if it is empty."""
    body = b"".join(map(put_varint, values))
    return put_bytes(number, body) if body else b""


def put_frame(message: bytes) -> bytes:
    """A message after its length."""
    return put_varint(len(message)) + message
