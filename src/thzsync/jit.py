"""How kernels are compiled, and when their stored machine code is renewed.

Numba keeps machine code on disk and renews it when the file of the function changes, but not when
a function or constant that it uses from another file does. Kernels are spread over the files of a
folder and share the rate formulas of ``channel/``, so stored code carries the stamp of all these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

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
        stored._source_stamp = (_stamp(home), _stamp(Path(__file__).parent / "channel"))
    return cast(F, made)


def kernel(function: F) -> F:
    """Compile a kernel: flat arrays in and out, no objects, no files."""
    return compiled(function)
