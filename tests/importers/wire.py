"""Messages of protocol buffers byte by byte, to write what the library would not."""

from __future__ import annotations

from collections.abc import Iterator


def put_varint(value: int) -> bytes:
    """An integer in groups of seven bits, in two's complement if negative."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def put_int(number: int, value: int) -> bytes:
    """A varint field."""
    return put_varint(number << 3) + put_varint(value)


def put_bytes(number: int, value: bytes) -> bytes:
    """A field of bytes: a text, a message or a packed list."""
    return put_varint(number << 3 | 2) + put_frame(value)


def put_packed(number: int, values: tuple[int, ...]) -> bytes:
    """A packed list of varints; no bytes if it is empty."""
    return put_bytes(number, b"".join(map(put_varint, values))) if values else b""


def put_frame(message: bytes) -> bytes:
    """A message after its length."""
    return put_varint(len(message)) + message


def frames(content: bytes) -> Iterator[bytes]:
    """The messages of a sound file."""
    at = 0
    while at < len(content):
        size = shift = 0
        while True:
            byte, at = content[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        yield content[at : at + size]
        at += size
