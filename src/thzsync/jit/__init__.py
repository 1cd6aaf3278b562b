"""How kernels are compiled: Numba's `njit` over flat arrays, its machine code stored (stored.py).

One option is not documented by Numba: ``_nrt=False`` compiles without reference counting. Held
tuples (held.py) also tell Numba their type by an undocumented attribute, which only saves time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from thzsync.jit.stored import about_to_compile, code_folder, tell_before_compiling

__all__ = [
    "about_to_compile",
    "apart",
    "bare",
    "code_folder",
    "hot",
    "inner",
    "inner_bare",
    "kernel",
    "tell_before_compiling",
]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A kernel: loops over numbers and arrays, called from Python or from other kernels."""
    return _compiled(function, counted=True)


def bare(function: F) -> F:
    """A kernel that makes no arrays, without Numba's reference counting.

    Counting costs two atomic operations per array and call: in the packet kernel, ten times the
    simulation itself.
    """
    return _compiled(function, counted=False)


def hot(function: F) -> F:
    """A bare kernel of an inner loop, always inlined into the kernels that call it."""
    return _compiled(function, counted=False, inlined=True)


inner, inner_bare, apart = kernel, bare, bare
"""The same, for kernels that only other kernels call."""


def _compiled(function: F, counted: bool, inlined: bool = False) -> F:
    """Compile on first use. Options are always given: a kernel would inherit its caller's."""
    numba: Any = import_module("numba")
    if numba.config.DISABLE_JIT:
        return function
    made: F = numba.njit(function, nogil=True, forceinline=inlined, _nrt=counted)
    import_module("thzsync.jit.locator").store(made)
    return made
