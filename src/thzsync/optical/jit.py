"""How the fabric's kernels are compiled.

They never allocate, so Numba's reference counting is switched off: it costs two atomic
operations per array and call, ten times the simulation itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}


def kernel(function: F) -> F:
    """Compile a kernel on first use and keep the machine code on disk."""
    from numba import njit

    return cast(F, njit(**_OPTIONS)(function))


def hot(function: F) -> F:
    """Compile a piece of the inner loop that is always inlined into its caller."""
    from numba import njit

    return cast(F, njit(**_OPTIONS, forceinline=True)(function))
