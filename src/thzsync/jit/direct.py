"""What kernels ask of Python and NumPy most often: written into them, where they ask for it.

Numba has a function of its own for each, and compiles it for every kind of arguments: new arrays,
``min``, ``max`` and ``int`` took a tenth of all compiling.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np

# Numba's annotations are too few to be of use here
arrayobj: Any = import_module("numba.np.arrayobj")
builtins: Any = import_module("numba.cpython.builtins")
cgutils: Any = import_module("numba.core.cgutils")
lower_builtin: Any = import_module("numba.extending").lower_builtin
types: Any = import_module("numba.core.types")
signature_of: Any = import_module("numba.core.typing").signature

NEW: Final = inspect.signature(lambda shape, dtype=float: None)
FILLED: Final = inspect.signature(lambda shape, fill_value, dtype=None: None)


def written_in_place(function: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """The types of a call of one of these functions; None if Numba has to see to it."""
    typed = TYPED.get(function.typing_key) if isinstance(function, types.Function) else None
    found = typed and typed(
        tuple(map(types.unliteral, args)), {name: types.unliteral(kws[name]) for name in kws}
    )
    if found:
        function._impl_keys[found.args] = function.typing_key
    return found


def _type_new(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    given = NEW.bind(*args, **kws).arguments
    shape, dtype = given["shape"], given.get("dtype", types.Omitted(float))
    array = _array_of(shape, dtype, types.float64)
    return array and signature_of(array, shape, dtype).replace(pysig=NEW)


def _type_filled(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    given = FILLED.bind(*args, **kws).arguments
    shape, value, dtype = (*given.values(), types.Omitted(None))[:3]
    array = _array_of(shape, dtype, value)
    return array and signature_of(array, shape, value, dtype).replace(pysig=FILLED)


def _array_of(shape: Any, dtype: Any, usual: Any) -> Any:
    """The type of a new array; None for shapes and numbers that are seldom asked for."""
    if isinstance(dtype, types.NumberClass):
        item = dtype.dtype
    elif isinstance(dtype, types.Omitted):
        item = usual
    else:
        return None
    if item not in (types.int64, types.float64, types.boolean):
        return None
    if isinstance(shape, types.UniTuple) and shape.dtype == types.int64:
        return types.Array(item, len(shape), "C")
    return types.Array(item, 1, "C") if shape == types.int64 else None


def _type_range(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    if kws or args != (types.int64,):
        return None
    return signature_of(types.Array(types.int64, 1, "C"), *args)


def _type_extreme(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    if kws or len(args) < 2 or len(set(args)) > 1 or args[0] not in (types.int64, types.float64):
        return None
    return signature_of(args[0], *args)


def _type_int(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    if kws or args not in ((types.int64,), (types.float64,)):
        return None
    return signature_of(types.int64, *args)


TYPED: Final[dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], Any]]] = {
    np.empty: _type_new,
    np.zeros: _type_new,
    np.ones: _type_new,
    np.full: _type_filled,
    np.arange: _type_range,
    min: _type_extreme,
    max: _type_extreme,
    int: _type_int,
}


@lower_builtin(np.empty, types.Any, types.Any)
def _empty(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    return _new(context, builder, signature, args[0])._getvalue()


@lower_builtin(np.zeros, types.Any, types.Any)
def _zeros(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    array = _new(context, builder, signature, args[0])
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return array._getvalue()


@lower_builtin(np.ones, types.Any, types.Any)
def _ones(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    one = context.get_constant(signature.return_type.dtype, 1)
    return _filled(context, builder, signature, args[0], lambda _: one)


@lower_builtin(np.full, types.Any, types.Any, types.Any)
def _full(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    value = context.cast(builder, args[1], signature.args[1], signature.return_type.dtype)
    return _filled(context, builder, signature, args[0], lambda _: value)


@lower_builtin(np.arange, types.int64)
def _range(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    none = context.get_constant(types.int64, 0)
    length = builder.select(builder.icmp_signed(">", args[0], none), args[0], none)
    return _filled(context, builder, signature, length, lambda place: place)


@lower_builtin(min, types.VarArg(types.Any))
def _min(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    return builtins.do_minmax(context, builder, signature.args, args, operator.lt)


@lower_builtin(max, types.VarArg(types.Any))
def _max(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    return builtins.do_minmax(context, builder, signature.args, args, operator.gt)


@lower_builtin(int, types.Any)
def _int(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
    return context.cast(builder, args[0], signature.args[0], types.int64)


def _new(context: Any, builder: Any, signature: Any, shape: Any) -> Any:
    kind = signature.args[0]
    sizes = cgutils.unpack_tuple(builder, shape) if isinstance(kind, types.UniTuple) else [shape]
    return arrayobj._empty_nd_impl(context, builder, signature.return_type, sizes)


def _filled(
    context: Any, builder: Any, signature: Any, shape: Any, value_at: Callable[[Any], Any]
) -> Any:
    array, kind = _new(context, builder, signature, shape), signature.return_type
    with cgutils.for_range(builder, array.nitems) as loop:
        place = builder.gep(array.data, [loop.index], inbounds=True)
        arrayobj.store_item(context, builder, kind, value_at(loop.index), place)
    return array._getvalue()
