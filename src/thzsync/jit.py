"""How kernels are compiled, and when their stored machine code is renewed.

Numba keeps machine code on disk and renews it when the file of the function changes, but not when
a function or constant that it uses from another file does. Kernels are spread over the files of a
folder and share the rate formulas of ``channel/`` and the precedence of ``transfers/``, so stored
code carries the stamp of all these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

SHARED = ("channel", "transfers")
"""Folders whose kernels are used in others."""

Stamp = tuple[tuple[str, int, int], ...]


@cache
def _stamp(folder: Path) -> Stamp:
    return tuple(
        (file.name, file.stat().st_mtime_ns, file.stat().st_size)
        for file in sorted(folder.glob("*.py"))
    )


def compiled(function: F, **options: Any) -> F:
    """Compile on first use, keep the machine code, and renew it with the sources it depends on."""
    from numba import njit

    made = njit(cache=True, nogil=True, **options)(function)
    stored: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if hasattr(stored, "_source_stamp"):
        home = Path(function.__code__.co_filename).parent
        shared = (Path(__file__).parent / name for name in SHARED)
        stored._source_stamp = (_stamp(home), *map(_stamp, shared))
    return cast(F, made)


def kernel(function: F) -> F:
    """Compile a kernel: flat arrays in and out, no objects, no files."""
    return compiled(function)


def bare(function: F) -> F:
    """A kernel that never allocates, without Numba's reference counting.

    That costs two atomic operations per array and call: in the packet kernel, ten times the
    simulation itself.
    """
    return compiled(function, _nrt=False)


def hot(function: F) -> F:
    """A piece of an inner loop that is always inlined into its caller; it never allocates."""
    return compiled(function, _nrt=False, forceinline=True)
