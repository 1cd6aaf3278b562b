"""A tuple of arrays that kernels are given again and again: taken apart once, not at every call.

Numba looks at every array of a tuple at every call from Python, first for its type and then for
where it is, and that takes longer than most of our kernels do. A held tuple is a row of words, made
once: where every array is and how large, and numbers as they are. Kernels take it as they take a
tuple after `slim`, for the price of one argument; they are compiled sooner, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_ssize_t
from importlib import import_module
from itertools import count
from struct import pack, unpack
from typing import Any, Final, TypeVar

import numpy as np

from thzsync.jit.slim import Slim, cgutils, extending, ir, is_simple, length_of, types

typeof: Any = import_module("numba.core.typing.typeof").typeof

T = TypeVar("T")
DATA: Final = object.__basicsize__
"""Where NumPy's array objects keep the address of their data: it is their first own member."""


class Held:
    """What kernels are given instead of a tuple of arrays, which it keeps alive."""

    __slots__ = ("_memory", "_numba_type_", "address", "arrays", "words")

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays
        self.words: list[int] = []
        self._numba_type_ = _take_apart(arrays, self.words)
        self._memory = np.array(self.words, dtype=np.uint64)
        self.address = _address(self._memory)

    def __getattr__(self, name: str) -> Any:
        """The tuple's own, for kernels that are not compiled."""
        return getattr(self.arrays, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """A deep copy holds copies of the arrays."""
        return Held, (self.arrays,)


def hold(arrays: T) -> T:
    """A named tuple for kernels to take: of arrays without gaps, numbers, and more such tuples.

    A part that many have in common may be held before.
    Kernels see arrays as they are when they look, and numbers as they were when it was made. What
    is taken out of it cannot be returned to Python, as with `slim`.
    """
    return Held(arrays)  # type: ignore[return-value]


def _take_apart(arrays: Any, words: list[int]) -> Slim:
    """Append the words of all members; their type."""
    key: list[Any] = [type(arrays)]
    for member in arrays:
        if isinstance(member, np.ndarray):
            if not (member.flags.carray and member.dtype.isnative):
                name = type(arrays).__name__
                raise TypeError(
                    f"{name}: only arrays without gaps can be held, none that is read-only"
                )
            words.append(_address(member))
            words += member.shape
            key.append((member.dtype, member.ndim))
        elif isinstance(member, Held):
            words += member.words
            key.append(member._numba_type_)
        elif isinstance(member, tuple):
            key.append(_take_apart(member, words))
        else:
            words.append(_word(member))
            key.append(type(member))
    kind = _types.get(found := tuple(key))
    if kind is None:
        full = _full_type(arrays)
        if not is_simple(full):
            raise TypeError(f"{type(arrays).__name__}: only arrays and plain numbers can be held")
        kind = _types[found] = Slim(full)
    return kind


_types: dict[tuple[Any, ...], Slim] = {}


def _full_type(member: Any) -> Any:
    """Numba's type of what was not held."""
    if isinstance(member, Held):
        return member._numba_type_.full
    if isinstance(member, tuple):
        return types.NamedTuple(list(map(_full_type, member)), type(member))
    return typeof(member)


def _address(array: Any) -> int:
    """What ``array.ctypes.data`` says, five times as fast."""
    return c_ssize_t.from_address(id(array) + DATA).value


def _word(number: float) -> int:
    if isinstance(number, float):
        return int(unpack("Q", pack("d", number))[0])
    return int(number) & (2**64 - 1)


@extending.unbox(Slim)
def _unbox(kind: Slim, held: Any, c: Any) -> Any:
    """Read the words, one after the other, into a tuple as `slim` makes them."""
    number = c.pyapi.object_getattr_string(held, "address")
    start = c.builder.bitcast(c.pyapi.long_as_voidptr(number), ir.IntType(64).as_pointer())
    c.pyapi.decref(number)
    return extending.NativeValue(_read(c, kind, start, count()))


def _read(c: Any, kind: Slim, start: Any, places: Iterator[int]) -> Any:
    builder, model = c.builder, c.context.data_model_manager[kind]

    def word() -> Any:
        return builder.load(cgutils.gep_inbounds(builder, start, next(places)))

    made = ir.Constant(model.get_value_type(), ir.Undefined)
    for name in kind.full.fields:
        member = kind.member(name)
        if isinstance(member, Slim):
            value = _read(c, member, start, places)
        elif isinstance(member, types.Array):
            data = c.context.get_data_type(member.dtype).as_pointer()
            value = builder.inttoptr(word(), data)
        elif isinstance(member, types.Float):
            value = builder.bitcast(word(), ir.DoubleType())
        elif isinstance(member, types.Boolean):
            value = builder.trunc(word(), ir.IntType(1))
        else:
            value = word()
        made = model.set(builder, made, value, name)
        for axis in range(member.ndim if isinstance(member, types.Array) else 0):
            made = model.set(builder, made, word(), length_of(name, axis))
    return made
