"""Where the machine code of kernels is kept, and how it is loaded.

Compiling kernels takes a quarter of a minute on two cores, so their machine code is stored. Numba
would keep it beside the sources, know it by the file of the function and its time stamp, and so
compile anew in every checkout. Here stored code is known by what it was made from: a folder in the
user's cache named after the contents of the kernel's folder and of everything that kernels share
(the rate formulas of ``channel/``, the precedence of ``transfers/``, the hash, and how they are
compiled). Checkouts, workers and installations of the same sources share it; an edit makes a new
folder, and old ones are removed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

SHARED: Final = ("channel", "jit", "transfers", "hashing.py")
"""Folders and files that kernels of others are made from, too."""
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
    """Where the machine code of a source folder's kernels is kept; None if nothing can be."""
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())  # other code
    _add_sources(digest, home)
    digest.update(_shared())
    folder = _cache_root() / home.name / digest.hexdigest()[:20]
    try:
        _claim(folder)
    except OSError:
        return None
    return folder


@cache
def _shared() -> bytes:
    """A digest of what kernels of all folders are made from."""
    digest = hashlib.sha256()
    for name in SHARED:
        _add_sources(digest, Path(__file__).parents[1] / name)
    return digest.digest()


def _add_sources(digest: Any, place: Path) -> None:
    """Add a file, or those of a folder, by name and contents."""
    for file in [place] if place.suffix else sorted(place.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())


def _cache_root() -> Path:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "thzsync" / "kernels"


def _claim(folder: Path) -> None:
    """Make sure that the folder can be written to; a new one takes the place of the oldest."""
    import shutil
    import tempfile

    known = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    os.utime(folder)
    if not known:
        others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
        for old in others[:-GENERATIONS]:
            shutil.rmtree(old, ignore_errors=True)


_found = cache(code_folder)


@cache
def _leave_out_blas() -> None:
    """Let Numba look for a BLAS when a kernel needs one, which none of ours does.

    It looks before it compiles anything, and finds it by importing a large part of SciPy.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    with_hole: dict[str, Any] = cast(dict[str, Any], sys.modules)
    with_hole[blas] = None
    try:
        import_module("numba.np.arraymath")._HAVE_BLAS = True  # type: ignore[attr-defined]
    finally:
        del with_hole[blas]


@cache
def _loading_library() -> Any:
    """A library that is loaded without what its kernel is linked from: kernels call parts only."""
    codegen: Any = import_module("numba.core.codegen")

    class Library(codegen.JITCodeLibrary):  # type: ignore[misc]
        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            name, kind, data = state
            if kind != "object":
                return super()._unserialize(codegen, state)
            library = cls(codegen, name)
            library.enable_object_caching()
            library._set_compiled_object(data[0])
            library._finalize_final_module()
            return library

        def get_pointer_to_function(self, name: str) -> int:
            # a loaded library is asked for nothing but its entry
            self._codegen._engine._defined_symbols.add(name)
            return int(super().get_pointer_to_function(name))

    return Library


@cache
def stored_cache() -> Any:
    """The class that Numba asks for stored code and hands new code to."""
    caching: Any = import_module("numba.core.caching")

    class Locator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
        def __init__(self, function: Any, file: str, folder: Path) -> None:
            self._lineno = function.__code__.co_firstlineno
            self._cache_path = str(folder)

        def get_source_stamp(self) -> str:
            return Path(self._cache_path).name  # a digest of the sources

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            folder = _found(Path(file).resolve().parent) if os.path.exists(file) else None
            return None if folder is None else cls(function, file, folder)

    class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator, *caching.CacheImpl._locator_classes)

    class File(caching.IndexDataCacheFile):  # type: ignore[misc]
        def save(self, key: Any, data: Any) -> None:
            # Numba counts its files, and two workers would give one name to different code.
            overloads = self._load_index()
            name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
            overloads[key] = f"{Path(self._index_path).stem}.{name}.nbc"
            self._save_data(overloads[key], data)
            self._save_index(overloads)

    class Stored(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = File(self._cache_path, self._impl.filename_base, stamp)

        def load_overload(self, signature: Any, target: Any) -> Any:
            # Numba would get ready to compile, which takes longer than to load all that is stored.
            import_module("numba.core.runtime").rtsys.initialize(target)
            codegen = target.codegen()
            usual, codegen._library_class = codegen._library_class, _loading_library()
            try:
                found = self._load_overload(signature, target)
            except Exception:  # whatever a damaged file causes: it is made anew
                found = None
                with suppress(OSError):
                    self._cache_file.flush()
            finally:
                codegen._library_class = usual
            if found is None:
                _leave_out_blas()
                about_to_compile()
            return found

    return Stored
