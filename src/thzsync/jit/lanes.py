"""Eight numbers at once, for kernels whose rows are short.

LLVM vectorises loops in steps that suit long rows: in a layer of two dozen units most are left
over. A kernel that says itself which eight numbers go together has none left over, keeps sums in
registers while it goes through several rows, and adds in the order in which it is written, on every
processor. A training takes 0.6 of the time. Rows are as long as whole lanes (`whole_lanes`).
Uncompiled, eight numbers are a short NumPy array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from itertools import product
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

from thzsync.jit import bare

# Numba's annotations leave these out
extending: Any = import_module("numba.extending")
cgutils: Any = import_module("numba.core.cgutils")
types: Any = import_module("numba").types

FloatArray = NDArray[np.float64]
LANES: Final = 8
"""As many numbers as the widest registers hold; narrower ones take several."""
Place = int | tuple[int, ...]
"""Of a number in an array, as it is indexed."""
Numbers = FloatArray | float
"""Eight of them, or one that stands for all eight."""


def whole_lanes(width: int) -> int:
    """The least width of whole lanes that has room for so many numbers."""
    return -(-width // LANES) * LANES


def eight(table: FloatArray, place: Place) -> FloatArray:
    """Eight numbers of a row, from this place on."""
    return np.array(table[_span(place)])


def put_eight(table: FloatArray, place: Place, numbers: FloatArray) -> None:
    """Write eight numbers into a row, from this place on."""
    table[_span(place)] = numbers


def _span(place: Place) -> Any:
    *row, column = place if isinstance(place, tuple) else (place,)
    return *row, slice(column, (column + LANES) or None)


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


FLOAT: Final = types.float64
ROW: Final = types.Array(FLOAT, 1, "C")
NUMBERS: Final = Lanes("Lanes")
VECTOR: Final = ir.VectorType(ir.DoubleType(), LANES)


@extending.register_model(Lanes)
class _Model(extending.models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, VECTOR)


def _define(function: Callable[..., Any], lower: Callable[..., Any]) -> None:
    """Let kernels call a function of eights, and of numbers that stand for eight."""

    def typed(*given: Any) -> Any:
        return NUMBERS if NUMBERS in given and {*given} <= {NUMBERS, FLOAT} else None

    def lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return lower(builder, *(_spread(builder, number) for number in args))

    typed.pysig = signature(function)  # type: ignore[attr-defined]
    extending.type_callable(function)(lambda context: typed)
    for kinds in product((NUMBERS, FLOAT), repeat=len(signature(function).parameters)):
        if NUMBERS in kinds:
            extending.lower_builtin(function, *kinds)(lowered)


def _spread(builder: Any, number: Any) -> Any:
    """A single number eight times."""
    if number.type == VECTOR:
        return number
    nothing, first = ir.Constant(VECTOR, ir.Undefined), ir.IntType(32)(0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(
        builder.insert_element(nothing, number, first), nothing, everywhere
    )


def _root(builder: Any, numbers: Any) -> Any:
    kind, name = ir.FunctionType(VECTOR, [VECTOR]), f"llvm.sqrt.v{LANES}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [numbers])


def _choosing(relation: str) -> Callable[..., Any]:
    def choose(builder: Any, a: Any, b: Any, then: Any, other: Any) -> Any:
        return builder.select(builder.fcmp_ordered(relation, a, b), then, other)

    return choose


_define(operator.add, ir.IRBuilder.fadd)
_define(operator.sub, ir.IRBuilder.fsub)
_define(operator.mul, ir.IRBuilder.fmul)
_define(operator.truediv, ir.IRBuilder.fdiv)
_define(where_more, _choosing(">"))
_define(where_at_most, _choosing("<="))
_define(where_same, _choosing("=="))
_define(roots, _root)


@extending.intrinsic
def _load(context: Any, row: Any, at: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_start(context, builder, row, *args), align=8)

    return (NUMBERS(row, at), lower) if row == ROW else None


@extending.intrinsic
def _store(context: Any, row: Any, at: Any, numbers: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _start(context, builder, row, *args[:2]), align=8)
        return context.get_dummy_value()

    return (types.void(row, at, NUMBERS), lower) if row == ROW else None


def _start(context: Any, builder: Any, kind: Any, row: Any, at: Any) -> Any:
    start = builder.gep(context.make_array(kind)(context, builder, row).data, [at], inbounds=True)
    return builder.bitcast(start, VECTOR.as_pointer())


@bare
def _first(row: FloatArray, at: int) -> int:
    """Where eight numbers begin; Numba checks the last if bounds are checked."""
    first = at + len(row) if at < 0 else at
    row[first + LANES - 1]
    return first


@extending.overload(eight, strict=False)
def _eight(table: Any, place: Any) -> Any:
    if isinstance(place, types.BaseTuple):
        return lambda table, place: eight(table[place[:-1]], place[-1])
    return lambda table, place: _load(table, _first(table, place))


@extending.overload(put_eight, strict=False)
def _put_eight(table: Any, place: Any, numbers: Any) -> Any:
    if isinstance(place, types.BaseTuple):
        return lambda table, place, numbers: put_eight(table[place[:-1]], place[-1], numbers)
    return lambda table, place, numbers: _store(table, _first(table, place), numbers)
