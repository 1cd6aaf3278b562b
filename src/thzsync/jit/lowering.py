"""Numba's last step before LLVM, in half the words where our kernels have most of them.

LLVM reads what this step writes, so fewer words are compiled sooner. An element of an array without
gaps needs its address and nothing else; a loop over a range, its number of turns; and a variable
that is assigned once, before all its uses, is a value and needs no place in memory.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

# Numba's annotations are too few to be of use here
analysis: Any = import_module("numba.core.analysis")
arrayobj: Any = import_module("numba.np.arrayobj")
cgutils: Any = import_module("numba.core.cgutils")
llvm: Any = import_module("llvmlite.ir")
lowering: Any = import_module("numba.core.lowering")
numba_ir: Any = import_module("numba.core.ir")
passes: Any = import_module("numba.core.typed_passes")
register_pass: Any = import_module("numba.core.compiler_machinery").register_pass
types: Any = import_module("numba.core.types")


class Lean(lowering.Lower):  # type: ignore[misc]
    """Writes a function down for LLVM; what is not below is written as Numba does."""

    _blk_local_varmap: dict[str, Any]

    def init(self) -> None:
        """Find the variables that need no place in memory."""
        super().init()
        self._values = self._plain_values()
        self._singly_assigned_vars |= self._values

    def post_block(self, block: Any) -> None:
        """Numba forgets the values of a block at its end; these are needed in others."""
        known = self._blk_local_varmap
        super().post_block(block)
        self._blk_local_varmap = {name: known[name] for name in known if name in self._values}

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Nobody has to be told that the value of before is gone, unless it is counted."""
        kind = self.typeof(name)
        if argidx is not None or name in self._singly_assigned_vars or self._is_counted(kind):
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, kind)
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """A variable of which nobody counts the uses just ends."""
        if self._is_counted(self.typeof(name)):
            super().delvar(name)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element."""
        array = self.typeof(value.name)
        if not self._is_element(array, self.typeof(index.name)):
            return super().lower_getitem(resty, expr, value, index, signature)
        found = arrayobj.load_item(self.context, self.builder, array, self._place(value, index))
        return self.context.cast(self.builder, found, array.dtype, resty)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Write an element."""
        array = self.typeof(target.name)
        if not self._is_element(array, self.typeof(index.name)):
            return super().lower_setitem(target, index, value, signature)
        stored = self._cast_var(value, array.dtype)
        return arrayobj.store_item(
            self.context, self.builder, array, stored, self._place(target, index)
        )

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Begin a loop over a range."""
        if expr.op == "getiter" and self.typeof(expr.value.name) == types.range_state64_type:
            return self._turns(resty, self.loadvar(expr.value.name))
        return super().lower_expr(resty, expr)

    def _plain_values(self) -> frozenset[str]:
        """Variables assigned once, in a block that every use has behind it, and not counted."""
        if self.func_ir.func_id.is_generator:
            return frozenset()
        blocks = self.func_ir.blocks
        assigned: Counter[str] = Counter()
        home: dict[str, int] = {}
        for label, block in blocks.items():
            for one in block.find_insts(numba_ir.Assign):
                assigned[one.target.name] += 1
                home[one.target.name] = label
        behind = analysis.compute_cfg_from_blocks(blocks).dominators()
        found = {name for name, times in assigned.items() if times == 1}
        for label, used in analysis.compute_use_defs(blocks).usemap.items():
            # blocks are written in the order of their labels
            found -= {
                name
                for name in found & used
                if home[name] >= label or home[name] not in behind.get(label, ())
            }
        return frozenset(name for name in found if not self._is_counted(self.typeof(name)))

    def _is_counted(self, kind: Any) -> bool:
        """Whether something in a value lives as long as it is used."""
        model = self.context.data_model_manager[kind]
        return bool(self.context.enable_nrt and model.contains_nrt_meminfo())

    def _is_element(self, array: Any, index: Any) -> bool:
        """Whether whole numbers name one element of an array without gaps."""
        if self.context.enable_boundscheck or not isinstance(array, types.Array):
            return False
        kinds = index.types if isinstance(index, types.BaseTuple) else (index,)
        whole = all(isinstance(kind, types.Integer) for kind in kinds)
        return bool(whole and array.layout == "C" and array.ndim == len(kinds))

    def _place(self, array: Any, index: Any) -> Any:
        """Where an element is; only a constant that is the sole index counts from the end."""
        builder, kind, value = self.builder, self.typeof(index.name), self.loadvar(index.name)
        model = self.context.data_model_manager[self.typeof(array.name)]
        whole, shape = self.loadvar(array.name), None
        tupled = isinstance(kind, types.BaseTuple)
        kinds = kind.types if tupled else (kind,)
        parts = cgutils.unpack_tuple(builder, value, len(kinds)) if tupled else [value]
        place = None
        for axis, (part, of) in enumerate(zip(parts, kinds, strict=True)):
            number = self.context.cast(builder, part, of, types.intp)
            backwards = isinstance(number, llvm.Constant) and number.constant < 0
            if place is not None or (backwards and len(parts) == 1):
                shape = shape or model.get(builder, whole, "shape")
                length = builder.extract_value(shape, axis)
                start = length if place is None else builder.mul(place, length)
                number = builder.add(start, number)
            place = number
        return builder.gep(model.get(builder, whole, "data"), [place], inbounds=True)

    def _turns(self, kind: Any, bounds: Any) -> Any:
        """Where a loop begins, and how many turns it has; steps are never 0."""
        builder = self.builder
        start, stop, step = cgutils.unpack_tuple(builder, bounds, 3)
        number = start.type
        up = builder.icmp_signed(">", step, number(0))
        span = builder.select(up, builder.sub(stop, start), builder.sub(start, stop))
        stride = builder.select(up, step, builder.neg(step))
        turns = builder.add(builder.udiv(builder.sub(span, number(1)), stride), number(1))
        any_turn = builder.icmp_signed(">", span, number(0))
        at, left = cgutils.alloca_once(builder, number), cgutils.alloca_once(builder, number)
        builder.store(start, at)
        builder.store(builder.select(any_turn, turns, number(0)), left)
        made = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        for member, part in enumerate((at, stop, step, left)):
            made = builder.insert_value(made, part, member)
        return made


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(passes.BaseNativeLowering):  # type: ignore[misc]
    """The step, as Numba's pipelines take it."""

    _name = "lean_lowering"

    @property
    def lowering_class(self) -> Any:
        """Who does it."""
        return Lean
