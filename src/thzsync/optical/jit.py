"""How the fabric's kernels are compiled.

They never allocate, so Numba's reference counting is switched off: it costs two atomic
operations per array and call, ten times the simulation itself.

Numba keeps machine code on disk and renews it when the file of the function changes, but not when
a function or constant that it uses from another file does. Kernels here are spread over several
files, so their stored code carries the stamp of all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


@cache
def _sources_stamp() -> tuple[tuple[str, int, int], ...]:
    files = sorted(Path(__file__).parent.glob("*.py"))
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


def _compile(function: F, **options: Any) -> F:
    from numba import njit

    compiled = njit(cache=True, nogil=True, _nrt=False, **options)(function)  # type: ignore[call-overload]
    stored: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(stored, "_source_stamp"):
        stored._source_stamp = _sources_stamp()
    return cast(F, compiled)


def kernel(function: F) -> F:
    """Compile a kernel on first use and keep the machine code on disk."""
    return _compile(function)


def hot(function: F) -> F:
    """Compile a piece of the inner loop that is always inlined into its caller."""
    return _compile(function, forceinline=True)
