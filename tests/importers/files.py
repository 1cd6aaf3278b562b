"""Where tests find traces of other tools, and traces that they write themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.importers.wire import put_bytes, put_frame, put_int, put_packed

SHARED = Path(os.environ.get("THZSYNC_TRACES", Path(__file__).parents[3] / "shared" / "traces"))


def shared(*pattern: str) -> list[Path]:
    """Files of the collection of real traces, which is not part of the repository."""
    found = sorted(path for p in pattern for path in SHARED.glob(p))
    if not found:
        pytest.skip(f"no {pattern[0]} in {SHARED}; name the collection with THZSYNC_TRACES")
    return found


def integer(name: str, value: int) -> bytes:
    """An attribute with an int64."""
    body = put_bytes(1, name.encode()) + put_int(9, value)
    return put_bytes(10, body)


def text(name: str, value: str) -> bytes:
    """An attribute with a text."""
    body = put_bytes(1, name.encode()) + put_bytes(29, value.encode())
    return put_bytes(10, body)


def node(
    number: int, kind: int, *attributes: bytes, after: tuple[int, ...] = (), micros: int = 0
) -> bytes:
    """A node of today's layout."""
    return (
        put_int(1, number)
        + put_bytes(2, f"n{number}".encode())
        + put_int(3, kind)
        + put_packed(5, after)
        + put_int(7, micros)
        + b"".join(attributes)
    )


def collective(number: int, kind: int, size: int, **settings: tuple[int, ...]) -> bytes:
    """A collective among all ranks."""
    return node(number, 7, integer("comm_type", kind), integer("comm_size", size), **settings)


def send(number: int, dst: int, size: int, tag: int = 0, after: tuple[int, ...] = ()) -> bytes:
    """A send."""
    ends = integer("comm_dst", dst) + integer("comm_tag", tag)
    return node(number, 5, ends, integer("comm_size", size), after=after)


def receive(number: int, src: int, size: int, tag: int = 0, after: tuple[int, ...] = ()) -> bytes:
    """A receive."""
    ends = integer("comm_src", src) + integer("comm_tag", tag)
    return node(number, 6, ends, integer("comm_size", size), after=after)


def write_chakra(folder: Path, *ranks: list[bytes], metadata: bytes = b"") -> list[Path]:
    """One file per rank; empty metadata is a frame of no bytes."""
    paths = []
    for rank, nodes in enumerate(ranks):
        path = folder / f"t.{rank}.et"
        path.write_bytes(b"".join(map(put_frame, [metadata, *nodes])))
        paths.append(path)
    return paths
