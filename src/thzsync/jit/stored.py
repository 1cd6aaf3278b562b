"""Where the machine code of kernels is stored, and when it is out of date.

Compiling all kernels takes most of a minute, so Numba stores their machine code. By itself it
would look only at the file of a kernel to see whether its code is out of date, and miss a change in
another kernel that this one calls. Here the folder of the code is named after a digest of all
sources that its kernels may be made of: the files beside them and what kernels share, and for
kernels from elsewhere this whole package. An edit makes a new folder, and old ones are removed;
checkouts, installations and workers with the same sources use the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parents[1]
SHARED: Final = (
    "arrays.py", "carriers.py", "channel/*.py", "elementary/*.py", "hashing.py", "jit/*.py",
    "transfers/*.py",
)  # fmt: skip
"""Files of this package of which kernels in other folders are made, too."""
GENERATIONS: Final = 12
"""States of one folder's sources whose code is kept, the most recently used."""

_waiting: list[Callable[[], None]] = []


def tell_before_compiling(tell: Callable[[], None]) -> None:
    """Call this once, before the first kernel whose machine code is not stored is compiled."""
    _waiting[:] = [tell]


def about_to_compile() -> None:
    """Tell whoever asked to be told; nobody is told twice."""
    while _waiting:
        _waiting.pop()()


def code_folder(home: Path) -> Path | None:
    """Where the code of a folder's kernels is stored; None if nothing can be written there."""
    # Kernels of jit/ take whatever tuples the package has.
    known = home.is_relative_to(PACKAGE) and home != PACKAGE / "jit"
    shared = SHARED if known else ("**/*.py",)
    bounds = os.environ.get("NUMBA_BOUNDSCHECK", "").encode()  # other code
    digest = hashlib.sha256(bounds + _digest(home.glob("*.py")) + _digest_of_package(shared))
    cached = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    root = Path(os.environ.get("NUMBA_CACHE_DIR") or cached / "thzsync" / "kernels")
    folder = root / home.name / digest.hexdigest()[:20]
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            _remove_oldest(folder.parent)
        os.utime(folder)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@cache
def _digest_of_package(patterns: tuple[str, ...]) -> bytes:
    return _digest(file for pattern in patterns for file in PACKAGE.glob(pattern))


def _digest(files: Iterable[Path]) -> bytes:
    """A digest of files by name and contents."""
    known = [file.name.encode() + hashlib.sha256(file.read_bytes()).digest() for file in files]
    return hashlib.sha256(b"".join(sorted(known))).digest()


def _remove_oldest(parent: Path) -> None:
    for old in sorted(parent.iterdir(), key=lambda path: path.stat().st_mtime)[:-GENERATIONS]:
        shutil.rmtree(old, ignore_errors=True)
