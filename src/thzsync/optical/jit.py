"""How the fabric's kernels are compiled.

They never allocate, so Numba's reference counting is switched off: it costs two atomic
operations per array and call, ten times the simulation itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from thzsync.jit import compiled

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a kernel on first use and keep the machine code on disk."""
    return compiled(function, _nrt=False)


def hot(function: F) -> F:
    """Compile a piece of the inner loop that is always inlined into its caller."""
    return compiled(function, _nrt=False, forceinline=True)
