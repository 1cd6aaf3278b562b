"""Messages on a pipe: a JSON header and raw bytes, each with its length in front."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import IO, Any, Final

_LENGTHS: Final = struct.Struct(">QQ")

Frame = tuple[dict[str, Any], bytes]


def write_frame(pipe: IO[bytes], header: Mapping[str, Any], payload: bytes = b"") -> None:
    """Send one message."""
    head = json.dumps(header).encode()
    pipe.write(_LENGTHS.pack(len(head), len(payload)) + head + payload)
    pipe.flush()


def read_frame(pipe: IO[bytes]) -> Frame | None:
    """Receive one message; ``None`` when the other side is gone, also in the middle of one."""
    lengths = _exactly(pipe, _LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_bytes, payload_bytes = _LENGTHS.unpack(lengths)
    head, payload = _exactly(pipe, head_bytes), _exactly(pipe, payload_bytes)
    if len(head) < head_bytes or len(payload) < payload_bytes:
        return None
    return json.loads(head), payload


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    """So many bytes, fewer only where the pipe ends; without a buffer they come in pieces."""
    found, have = memoryview(bytearray(count)), 0
    while have < count and (more := pipe.readinto(found[have:])):  # type: ignore[attr-defined]
        have += more
    return bytes(found[:have])
