"""Files of users, plain or gzip, read up to a limit of unpacked bytes."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError

MOST_BYTES: Final = 1 << 30
"""Longest file that is read, after unpacking [bytes]."""
MOST_JSON_BYTES: Final = 1 << 28
"""Longest JSON file; parsed, it may take twenty times the memory [bytes]."""
HEAD_BYTES: Final = 1 << 12
_PIECE_BYTES: Final = 1 << 20
_GZIP: Final = b"\x1f\x8b"
_RANK: Final = re.compile(r"rank[-_.]?(\d+)")
_NUMBER: Final = re.compile(r"\d+")


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """A whole file, unpacked if it is gzip; refuse one longer than ``most``."""
    content = _read(path, most + 1)
    if len(content) > most:
        raise ThzSyncError(
            f"{path}: longer than {most >> 20} MiB unpacked; record fewer steps, or split it"
        )
    return content


def read_head(path: Path) -> bytes:
    """The beginning of a file, unpacked."""
    return _read(path, HEAD_BYTES)


def _read(path: Path, count: int) -> bytes:
    try:
        with path.open("rb") as plain:
            zipped = plain.read(2) == _GZIP
            plain.seek(0)
            source = gzip.GzipFile(fileobj=plain) if zipped else plain
            return _at_most(source.read, count)
    except FileNotFoundError:
        raise ThzSyncError(f"{path}: no such file; check the path") from None
    except IsADirectoryError:
        raise ThzSyncError(f"{path}: a folder; name the files in it") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise ThzSyncError(f"{path}: gzip data that is truncated or damaged") from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read ({error.strerror})") from None


def _at_most(read: Callable[[int], bytes], count: int) -> bytes:
    """Piece by piece, because a read allocates what is asked for, not what is there."""
    pieces, left = [], count
    while left > 0 and (piece := read(min(left, _PIECE_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_json(path: Path) -> Any:
    """A JSON document of limited length."""
    content = read_bytes(path, MOST_JSON_BYTES)
    try:
        return json.loads(content)
    except RecursionError:
        raise ThzSyncError(f"{path}: lists nested too deep to be a trace") from None
    except ValueError as error:
        reason = str(error).splitlines()[0][:120]
        raise ThzSyncError(f"{path}: not valid JSON ({reason}); record it again") from None


def rank_in_name(path: Path) -> int | None:
    """The number after ``rank`` in a file's name, or the last number: 3 in ``moe.3.et``."""
    numbers = _RANK.findall(path.name) or _NUMBER.findall(path.name)
    return int(numbers[-1]) if numbers and len(numbers[-1]) < 10 else None


def by_rank(paths: dict[int, Path], rank: int | None, path: Path) -> int:
    """Store a path under its rank and return the rank; refuse a missing or a repeated one."""
    if rank is None:
        raise ThzSyncError(f"{path}: no rank in its name; call it such as trace.0{path.suffix}")
    if rank in paths:
        raise ThzSyncError(f"{path}: rank {rank} has {paths[rank]} already; give each rank once")
    paths[rank] = path
    return rank
