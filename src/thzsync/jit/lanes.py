"""Eight numbers at once, for kernels whose rows are short.

LLVM puts turns of a loop side by side in steps that suit long rows: in a layer of two dozen units
most are left over. A kernel that says itself which eight numbers go together has none left over,
keeps sums in registers while it goes through several rows, and adds in the order in which it is
written, on every processor. Rows are as long as whole lanes (`whole_lanes`). Uncompiled, eight
numbers are a short NumPy array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib import import_module
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Numba's annotations are too few to be of use here
cgutils: Any = import_module("numba.core.cgutils")
extending: Any = import_module("numba.extending")
ir: Any = import_module("llvmlite.ir")
models: Any = import_module("numba.core.datamodel.models")
types: Any = import_module("numba.core.types")

FloatArray = NDArray[np.float64]
LANES: Final = 8
"""As many numbers as the widest registers hold; narrower ones take several."""


def whole_lanes(width: int) -> int:
    """The least width of whole lanes that has room for so many numbers."""
    return -(-width // LANES) * LANES


Place = int | tuple[int, ...]
"""Of a number in an array, as it is indexed."""
Numbers = FloatArray | float
"""Eight of them, or one that stands for all eight."""


def eight(table: FloatArray, place: Place) -> FloatArray:
    """Eight numbers of a row, from this place on."""
    return np.array(table[_span(place)])


def put_eight(table: FloatArray, place: Place, numbers: FloatArray) -> None:
    """Write eight numbers into a row, from this place on."""
    table[_span(place)] = numbers


def _span(place: Place) -> Any:
    *row, column = place if isinstance(place, tuple) else (place,)
    return *row, slice(column, column + LANES)


def where_more(a: Numbers, b: Numbers, then: Numbers, other: Numbers) -> FloatArray:
    """``then`` where ``a`` is greater than ``b``, elsewhere ``other``."""
    return np.asarray(np.where(a > b, then, other))


def where_at_most(a: Numbers, b: Numbers, then: Numbers, other: Numbers) -> FloatArray:
    """``then`` where ``a`` is no greater than ``b``, elsewhere, and for NaN, ``other``."""
    return np.asarray(np.where(a <= b, then, other))


def where_same(a: Numbers, b: Numbers, then: Numbers, other: Numbers) -> FloatArray:
    """``then`` where ``a`` equals ``b``, elsewhere ``other``."""
    return np.asarray(np.where(a == b, then, other))


def roots(numbers: FloatArray) -> FloatArray:
    """The square root of every number."""
    return np.sqrt(numbers)


class Lanes(types.Type):  # type: ignore[misc]
    """The type of eight numbers."""


NUMBERS: Final = Lanes("Lanes")
VECTOR: Final = ir.VectorType(ir.DoubleType(), LANES)
FIRST: Final = ir.Constant(ir.IntType(32), 0)
EVERYWHERE: Final = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


@extending.register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, VECTOR)


def _is_row(table: Any, place: Any) -> bool:
    """Whether whole numbers name a place in an array without gaps."""
    kinds = place.types if isinstance(place, types.BaseTuple) else (place,)
    whole = all(isinstance(kind, types.Integer) for kind in kinds)
    return bool(
        whole
        and isinstance(table, types.Array)
        and (table.dtype, table.layout, table.ndim) == (types.float64, "C", len(kinds))
    )


@extending.type_callable(eight)
def _type_of_eight(context: Any) -> Any:
    return lambda table, place: NUMBERS if _is_row(table, place) else None


@extending.type_callable(put_eight)
def _type_of_put_eight(context: Any) -> Any:
    def typed(table: Any, place: Any, numbers: Any) -> Any:
        return types.none if numbers == NUMBERS and _is_row(table, place) else None

    return typed


@extending.lower_builtin(eight, types.Array, types.Any)
def _eight(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load(_start(context, builder, signature, args), align=8, typ=VECTOR)


@extending.lower_builtin(put_eight, types.Array, types.Any, Lanes)
def _put_eight(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.store(args[2], _start(context, builder, signature, args), align=8)
    return context.get_dummy_value()


def _start(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Where eight numbers begin."""
    table, place = signature.args[:2]
    kinds = place.types if isinstance(place, types.BaseTuple) else (place,)
    parts = cgutils.unpack_tuple(builder, args[1]) if len(kinds) > 1 else args[1:2]
    whole = [context.cast(builder, *pair, types.intp) for pair in zip(parts, kinds, strict=True)]
    model = context.data_model_manager[table]
    shape = cgutils.unpack_tuple(builder, model.get(builder, args[0], "shape"))
    if context.enable_boundscheck:
        last = builder.add(whole[-1], ir.Constant(whole[-1].type, LANES - 1))
        for axis, index in enumerate((*whole[:-1], last)):
            cgutils.do_boundscheck(context, builder, index, shape[axis], axis)
    at = whole[0]
    for index, length in zip(whole[1:], shape[1:], strict=True):
        at = builder.add(builder.mul(at, length), index)
    start = builder.gep(model.get(builder, args[0], "data"), [at], inbounds=True)
    return builder.bitcast(start, VECTOR.as_pointer())


@extending.type_callable(roots)
def _type_of_roots(context: Any) -> Any:
    return lambda numbers: NUMBERS if numbers == NUMBERS else None


@extending.lower_builtin(roots, Lanes)
def _roots(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, name = ir.FunctionType(VECTOR, [VECTOR]), f"llvm.sqrt.v{LANES}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


def _pair(a: Any, b: Any) -> Any:
    return NUMBERS if NUMBERS in (a, b) and {a, b} <= {NUMBERS, types.float64} else None


def _choice(a: Any, b: Any, then: Any, other: Any) -> Any:
    return NUMBERS if {a, b, then, other} <= {NUMBERS, types.float64} else None


def _define(function: Any, typed: Callable[..., Any], write: Callable[..., Any]) -> None:
    """Let kernels call a function of eights, and of numbers that stand for eight."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return write(builder, *(_spread(builder, number) for number in args))

    extending.type_callable(function)(lambda context: typed)
    for first, second in product((Lanes, types.float64), repeat=2):
        if typed is _choice:
            extending.lower_builtin(function, first, second, types.Any, types.Any)(lower)
        elif Lanes in (first, second):
            extending.lower_builtin(function, first, second)(lower)


def _spread(builder: Any, number: Any) -> Any:
    """A single number eight times."""
    if number.type == VECTOR:
        return number
    nothing = ir.Constant(VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, number, FIRST)
    return builder.shuffle_vector(one, nothing, EVERYWHERE)


def _choosing(relation: str) -> Callable[..., Any]:
    def choose(builder: Any, a: Any, b: Any, then: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered(relation, a, b), then, other)

    return choose


_define(operator.add, _pair, lambda builder, a, b: builder.fadd(a, b))
_define(operator.sub, _pair, lambda builder, a, b: builder.fsub(a, b))
_define(operator.mul, _pair, lambda builder, a, b: builder.fmul(a, b))
_define(operator.truediv, _pair, lambda builder, a, b: builder.fdiv(a, b))
_define(where_more, _choice, _choosing(">"))
_define(where_at_most, _choice, _choosing("<="))
_define(where_same, _choice, _choosing("=="))
