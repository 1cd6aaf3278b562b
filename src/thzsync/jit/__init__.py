"""How kernels are compiled: flat arrays in and out, no objects, no files.

Decorators only; what is behind them is compiled on first use (compiler.py) and stored until its
sources change (stored.py). slim.py hands large tuples of arrays from kernel to kernel, held.py from
Python to kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar, cast

from thzsync.jit.compiler import kernels_compiler, parts_compiler, refuse_nested
from thzsync.jit.stored import about_to_compile, code_folder, stored_cache, tell_before_compiling

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
    """A kernel that Python calls, and other kernels may: loops over numbers and arrays.

    Closures and comprehensions are refused, and kernels that call each other in a circle are not
    compiled; a kernel may call itself. No range may have a step of 0, which is not looked for.
    """
    return _compiled(function)


def bare(function: F) -> F:
    """A kernel that never allocates, without Numba's reference counting.

    That costs two atomic operations per array and call: in the packet kernel, ten times the
    simulation itself.
    """
    return _compiled(function, _nrt=False)


def inner(function: F) -> F:
    """A kernel that only other kernels call.

    It has no code that takes its arguments out of Python objects, and is not optimised by itself
    but with its callers.
    """
    return _compiled(function, closed=True)


def inner_bare(function: F) -> F:
    """A bare kernel that only other kernels call."""
    return _compiled(function, closed=True, _nrt=False)


def apart(function: F) -> F:
    """A bare kernel for other kernels, none of whose arrays overlaps one that it writes to.

    Loops over them need not look first whether they do.
    """
    return _compiled(function, closed=True, apart=True, _nrt=False)


def hot(function: F) -> F:
    """A piece of an inner loop, always inlined into the kernel that calls it; never allocates."""
    return _compiled(function, closed=True, _nrt=False, forceinline=True)


def _compiled(
    function: F,
    closed: bool = False,
    apart: bool = False,
    forceinline: bool = False,
    **options: Any,
) -> F:
    """Compile on first use, and keep the machine code until its sources change.

    A ``closed`` kernel cannot be called from Python; its ``py_func`` can.
    """
    refuse_nested(function)
    numba: Any = import_module("numba")  # its annotations leave out the options used here
    if numba.config.DISABLE_JIT:
        return function

    def make() -> Any:
        return numba.njit(
            nogil=True,
            no_cpython_wrapper=closed,
            no_cfunc_wrapper=True,
            forceinline=forceinline,  # said either way: else callees would do as their callers do
            pipeline_class=parts_compiler(apart) if closed else kernels_compiler(),
            **options,
        )(function)

    if closed:
        return cast(F, Part(function, make))
    made = make()
    with suppress(RuntimeError):  # typed at a prompt, it has no file: there is nothing to store
        made._cache = stored_cache()(function)
    cast(Part, _compiled(function, closed=True, **options)).lend_to(made)
    return cast(F, made)


class Part:
    """A kernel that only other kernels call. Numba hears of it when one of them is compiled."""

    def __init__(self, function: Callable[..., Any], make: Callable[[], Any]) -> None:
        self.py_func, self._make = function, make

    @cached_property
    def dispatcher(self) -> Any:
        """What Numba compiles."""
        made = self._make()
        _close(made)
        return made

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def lend_to(self, kernel: Any) -> None:
        """Let kernels that call a kernel take it as a part; for Python it has its own code."""
        kernel.get_call_template = self._get_call_template
        kernel.get_overload = self._get_overload

    def _get_call_template(self, args: Any, kws: Any) -> Any:
        return self.dispatcher.get_call_template(args, kws)

    def _get_overload(self, signature: Any) -> Any:
        return self.dispatcher.get_overload(signature)

    def __call__(self, *_: object, **__: object) -> Any:
        """A call without unpacking would be a crash."""
        name = self.py_func.__qualname__
        raise TypeError(f"{name} is called by kernels only; from Python, call {name}.py_func")


def _close(made: Any) -> None:
    """Let kernels find a part: there is no code of it that Python could be given."""

    def add_overload(result: Any) -> None:
        made.overloads[tuple(result.signature.args)] = result

    def get_call_template(args: Any, kws: Any) -> Any:
        # a constant as an argument would have a version of its own
        return template(tuple(map(plain, args)), {name: plain(kws[name]) for name in kws})

    plain, template = import_module("numba.core.types").unliteral, made.get_call_template
    made.add_overload = add_overload
    made.get_call_template = get_call_template
