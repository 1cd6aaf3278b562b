"""A tuple of arrays that kernels are given again and again: taken apart once, not at every call.

Numba looks at every array of a tuple at every call from Python, first for its type and then for
where it is, and that takes longer than most of our kernels do. A held tuple is a row of words, made
once: where every array is and how large, and numbers as they are. Kernels are told where the row
is, hand that on to the kernels they call, and look into it for what they need.
"""

from __future__ import annotations

from ctypes import c_ssize_t
from importlib import import_module
from struct import pack, unpack
from typing import Any, Final, TypeVar

import numpy as np

from thzsync.jit.slim import Fields, extending, ir, is_simple, made_up, models, types

typeof: Any = import_module("numba.core.typing.typeof").typeof

T = TypeVar("T")
WORD: Any = ir.IntType(64)
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


def _take_apart(arrays: Any, words: list[int]) -> Words:
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
        kind = _types[found] = Words(full)
    return kind


_types: dict[tuple[Any, ...], Words] = {}


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


class Words(Fields):
    """The type of a held tuple; ``places`` tells where the words of its members begin."""

    def __init__(self, full: Any) -> None:
        super().__init__(full)
        self.places: dict[str, int] = {}
        self.length = 0
        for name in full.fields:
            self.places[name] = self.length
            self.length += _words_of(self.member(name))


def _words_of(kind: Any) -> int:
    if isinstance(kind, Words):
        return kind.length
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


@extending.register_model(Words)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Words) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


@extending.unbox(Words)
def _unbox(kind: Words, held: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(held, "address")
    start = c.builder.bitcast(c.pyapi.long_as_voidptr(number), WORD.as_pointer())
    c.pyapi.decref(number)
    return extending.NativeValue(start)


@extending.lower_getattr_generic(Words)
def _member(context: Any, builder: Any, kind: Words, words: Any, name: str) -> Any:
    """Read some words; LLVM is told that they are the same whenever it looks."""
    member, first = kind.member(name), kind.places[name]

    def word(place: int, found: Any) -> Any:
        at = builder.gep(words, [WORD(place)], inbounds=True)
        value = builder.load(builder.bitcast(at, found.as_pointer()))
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if isinstance(member, Words):
        return builder.gep(words, [WORD(first)], inbounds=True)
    if isinstance(member, types.Boolean):
        return builder.trunc(word(first, WORD), ir.IntType(1))
    if not isinstance(member, types.Array):
        return word(first, context.get_value_type(member))
    start = word(first, context.get_data_type(member.dtype).as_pointer())
    shape = [word(first + 1 + axis, WORD) for axis in range(member.ndim)]
    return made_up(context, builder, member, start, shape)
