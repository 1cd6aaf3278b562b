"""Files that are either complete or absent."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from thzsync.errors import ThzSyncError


def write_atomically(path: str | Path, content: bytes) -> Path:
    """Write to a temporary file beside the target and rename it; the target's path."""
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
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(target)
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)
    return target
