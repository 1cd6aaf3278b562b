"""Files that are either complete or absent, and JSON that every reader accepts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from thzsync.errors import ThzSyncError

_RAW_CONTROLS = re.compile("[\x7f-\x9f]")
"""Control characters that JSON leaves as they are, though terminals obey some of them."""


def write_atomically(path: str | Path, content: bytes) -> Path:
    """Write to a temporary file beside the target and rename it; the target's path."""
    with open_atomically(path) as file:
        file.write(content)
    return Path(path).resolve()


@contextmanager
def open_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A file that takes the target's place once all of it is written."""
    target = Path(path).resolve()  # replace what a link points to, not the link
    if target.exists() and not target.is_file():
        # Renaming over a device or a pipe would destroy it.
        raise ThzSyncError(f"{path}: is not a regular file; name a file to write")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror})") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(target)
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)


def dump_json(document: object) -> str:
    """Strict JSON: a number that is not finite becomes null."""
    return escape_controls(
        json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)
    )


def escape_controls(text: str) -> str:
    """JSON or a TOML string without raw control characters, also those JSON does not escape."""
    return _RAW_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def document_bytes(document: object) -> bytes:
    """Plain values as a file of strict JSON."""
    return (dump_json(document) + "\n").encode()


def write_document(path: str | Path, document: object) -> Path:
    """Write plain values as strict JSON."""
    return write_atomically(path, document_bytes(document))


def read_bounded(path: str | Path, most_bytes: int, noun: str) -> bytes:
    """A whole file, unless it is larger than anything of its kind (or never ends)."""
    with Path(path).open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ThzSyncError(f"{path}: has more than {most_bytes} bytes; is it really {noun}?")
    return content


def content_digest(path: str | Path) -> str | None:
    """SHA-256 of a file's content; None where there is no such file."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def prepare_file(path: str | Path) -> Path:
    """See that a file can be written, before hours of work depend on it."""
    target = Path(path)
    if target.exists() and not target.is_file():
        raise ThzSyncError(f"{path}: is not a regular file; name a file to write")
    prepare_folder(target.resolve().parent)
    return target


def prepare_folder(path: str | Path) -> Path:
    """Make a folder and see that it can be written, before hours of work depend on it."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target):
            pass
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror}); name a folder") from None
    except ValueError as error:  # a zero byte in its name
        raise ThzSyncError(f"{path}: cannot be written ({error}); name a folder") from None
    return target


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if hasattr(value, "item") and not hasattr(value, "__len__"):
        value = value.item()  # a NumPy scalar
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return None
    return value
