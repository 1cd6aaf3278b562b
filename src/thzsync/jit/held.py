"""A tuple of arrays that kernels are given again and again: looked at once, not at every call.

At every call from Python, Numba looks at every array of a tuple, for its type and for where it is.
That takes longer than most of our kernels do. A held tuple is kept in memory as kernels see it, and
a call hands on its address. Without it, iterations take 1.2 to 1.8 times as long.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any, Final, TypeVar

import numpy as np

from thzsync.jit import bare

# Numba's annotations leave these out
cgutils: Any = import_module("numba.core.cgutils")
extending: Any = import_module("numba.extending")
templates: Any = import_module("numba.core.typing.templates")
types: Any = import_module("numba").types
typeof: Any = import_module("numba").typeof

T = TypeVar("T")
ROOM_BYTES: Final = 1 << 14


class Held:
    """What kernels are given instead of a tuple of arrays, which it keeps alive."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = arrays

    def __getattr__(self, name: str) -> Any:
        """The tuple's own, for kernels that are not compiled; type and address on first use."""
        if name not in ("address", "_numba_type_"):
            return getattr(self.arrays, name)
        self._memory = np.empty(ROOM_BYTES, dtype=np.uint8)
        self.address = self._memory.ctypes.data
        arrays = type(self.arrays)(*(getattr(m, "arrays", m) for m in self.arrays))
        number = _writer(type(arrays).__module__)(arrays, self.address)
        if number not in _kinds:
            _kinds[number] = HeldType(typeof(arrays))
        self._numba_type_ = _kinds[number]  # Numba finds it here at once, elsewhere in 2 us
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        """A deep copy holds copies of the arrays."""
        return Held, (self.arrays,)


def hold(arrays: T) -> T:
    """A named tuple for kernels to take: of arrays, numbers, and more such tuples.

    A part that many have in common may be held before.
    """
    return Held(arrays)  # type: ignore[return-value]


class HeldType(types.Type):  # type: ignore[misc]
    """The type of a held tuple; ``full`` is Numba's type of the tuple itself."""

    def __init__(self, full: Any) -> None:
        self.full = full
        super().__init__(f"Held({_description(full)})")


_kinds: dict[int, HeldType] = {}


def _description(kind: Any) -> str:
    if not isinstance(kind, types.BaseNamedTuple):
        return str(kind)
    made = kind.instance_class
    return f"{made.__module__}.{made.__qualname__}({', '.join(map(_description, kind.types))})"


@extending.intrinsic
def _put(context: Any, arrays: Any, address: Any) -> Any:
    number = int.from_bytes(sha256(_description(arrays).encode()).digest()[:7])

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_data_type(arrays)
        if context.get_abi_sizeof(kind) > ROOM_BYTES:
            raise TypeError(f"{arrays.instance_class.__name__} is too large to be held")
        start = builder.inttoptr(args[1], kind.as_pointer())
        context.pack_value(builder, arrays, args[0], start)
        return context.get_constant(types.int64, number)

    return types.int64(arrays, address), lower


@bare
def _write(arrays: Any, address: int) -> int:
    """Write a tuple into memory, as kernels see it; a number of its type."""
    return _put(arrays, address)  # type: ignore[no-any-return]


@cache
def _writer(module: str) -> Any:
    """What writes tuples of a module's classes.

    Numba's list of stored code names the classes, and cannot be read where one is missing. So the
    code for classes of other packages is not stored.
    """
    ours = module.partition(".")[0] == __name__.partition(".")[0]
    return _write if ours else import_module("numba").njit(_write.py_func, _nrt=False)  # type: ignore[attr-defined]


@extending.typeof_impl.register(Held)
def _typeof(held: Held, _: object) -> Any:
    return held._numba_type_


@extending.register_model(HeldType)
class _Model(extending.models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: HeldType) -> None:
        super().__init__(manager, kind, manager[kind.full].get_data_type().as_pointer())


@extending.unbox(HeldType)
def _unbox(kind: HeldType, held: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(held, "address")
    start = c.builder.bitcast(c.pyapi.long_as_voidptr(address), c.context.get_value_type(kind))
    c.pyapi.decref(address)
    return extending.NativeValue(start)


@extending.infer_getattr
class _Attributes(templates.AttributeTemplate):  # type: ignore[misc]
    key = HeldType

    def generic_resolve(self, held: HeldType, name: str) -> Any:
        if name not in held.full.fields:
            return None
        kind = held.full.types[held.full.fields.index(name)]
        return HeldType(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@extending.lower_getattr_generic(HeldType)
def _member(context: Any, builder: Any, held: HeldType, start: Any, name: str) -> Any:
    number = held.full.fields.index(name)
    kind, place = held.full.types[number], cgutils.gep_inbounds(builder, start, 0, number)
    if isinstance(kind, types.BaseNamedTuple):
        return place
    return context.unpack_value(builder, kind, place)
