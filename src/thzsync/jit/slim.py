"""A tuple of arrays as kernels hand it on: of every array only where it is and how large.

Numba hands an array on as seven or nine numbers, and a tuple of twenty arrays as a hundred and
sixty, at every call of one kernel by another. Arrays without gaps need two or three. For tuples
that a kernel has made itself; those that Python has are held (held.py).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

# Numba's annotations are too few to be of use here
cgutils: Any = import_module("numba.core.cgutils")
extending: Any = import_module("numba.extending")
ir: Any = import_module("llvmlite.ir")
models: Any = import_module("numba.core.datamodel.models")
numpy_support: Any = import_module("numba.np.numpy_support")
templates: Any = import_module("numba.core.typing.templates")
types: Any = import_module("numba.core.types")

T = TypeVar("T")


def slim(arrays: T) -> T:
    """An argument of a kernel, to be handed on to its parts: a named tuple of arrays without gaps.

    It may have numbers and such tuples, too. Only for arguments, which the caller keeps: arrays
    that a kernel has made itself would be gone. What is taken out of it cannot be returned to
    Python, since nobody owns it.
    """
    return arrays


class Fields(types.Type):  # type: ignore[misc]
    """A named tuple in fewer numbers; ``full`` is Numba's own type of it."""

    def __init__(self, full: Any) -> None:
        self.full = full
        super().__init__(f"{type(self).__name__}({full})")

    def member(self, name: str) -> Any:
        """The type of one of its members; a tuple within is in fewer numbers, too."""
        kind = self.full.types[self.full.fields.index(name)]
        return type(self)(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@extending.infer_getattr
class _Attributes(templates.AttributeTemplate):  # type: ignore[misc]
    key = Fields

    def generic_resolve(self, fields: Fields, name: str) -> Any:
        return fields.member(name) if name in fields.full.fields else None


class Slim(Fields):
    """The type of a tuple after `slim`."""


@extending.register_model(Slim)
class _Model(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, slim: Slim) -> None:
        members: list[tuple[str, Any]] = []
        for name in slim.full.fields:
            kind = slim.member(name)
            if isinstance(kind, types.Array):
                members.append((name, types.CPointer(kind.dtype)))
                members += [(length_of(name, axis), types.intp) for axis in range(kind.ndim)]
            else:
                members.append((name, kind))
        super().__init__(manager, slim, members)


def length_of(name: str, axis: int) -> str:
    """The member that has an array's length along an axis."""
    return f"{name}_{axis}"


@extending.type_callable(slim)
def _type_of_slim(context: Any) -> Any:
    def typed(arrays: Any) -> Any:
        return Slim(arrays) if is_simple(arrays) else None

    return typed


def is_simple(kind: Any) -> bool:
    """Whether all members are arrays without gaps, numbers of one word, and such tuples."""
    if isinstance(kind, types.BaseNamedTuple):
        return all(map(is_simple, kind.types))
    if isinstance(kind, types.Array):
        return bool(kind.layout == "C" and kind.ndim > 0)
    return kind in (types.int64, types.uint64, types.float64, types.boolean)


@extending.lower_builtin(slim, types.BaseNamedTuple)
def _make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _packed(context, builder, signature.return_type, args[0])


def _packed(context: Any, builder: Any, slim: Slim, full: Any) -> Any:
    model = context.data_model_manager[slim]
    made = ir.Constant(model.get_value_type(), ir.Undefined)
    for place, name in enumerate(slim.full.fields):
        kind, value = slim.member(name), builder.extract_value(full, place)
        if isinstance(kind, types.Array):
            array = context.data_model_manager[kind]
            shape = array.get(builder, value, "shape")
            for axis in range(kind.ndim):
                length = builder.extract_value(shape, axis)
                made = model.set(builder, made, length, length_of(name, axis))
            value = array.get(builder, value, "data")
        elif isinstance(kind, Slim):
            value = _packed(context, builder, kind, value)
        made = model.set(builder, made, value, name)
    return made


@extending.lower_getattr_generic(Slim)
def _member(context: Any, builder: Any, slim: Slim, value: Any, name: str) -> Any:
    kind, model = slim.member(name), context.data_model_manager[slim]
    start = model.get(builder, value, name)
    if not isinstance(kind, types.Array):
        return start
    shape = [model.get(builder, value, length_of(name, axis)) for axis in range(kind.ndim)]
    return made_up(context, builder, kind, start, shape)


def made_up(context: Any, builder: Any, kind: Any, start: Any, shape: list[Any]) -> Any:
    """An array as Numba wants it: strides follow from sizes, and nobody owns it."""
    array = context.data_model_manager[kind]
    item = ir.Constant(shape[0].type, numpy_support.as_dtype(kind.dtype).itemsize)
    strides, items = [item], shape[-1]
    for length in reversed(shape[:-1]):
        strides.insert(0, builder.mul(item, items))
        items = builder.mul(items, length)
    made = ir.Constant(array.get_value_type(), None)
    for field, part in (
        ("nitems", items),
        ("itemsize", item),
        ("data", start),
        ("shape", cgutils.pack_array(builder, shape)),
        ("strides", cgutils.pack_array(builder, strides)),
    ):
        made = array.set(builder, made, part, field)
    return made
