"""Numba's compiler without what our kernels do not need; it takes half of the time.

Kernels call kernels. Numba would optimise every function, emit its machine code, and do the same
again for its callers, which contain it. Here what kernels call is a *part*: it is linked into its
callers as it is, and optimised there, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any, Final

UNUSED: Final = (
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "RewriteSemanticConstants",
    "WithLifting",
)
"""Passes for what no kernel of ours has: closures, whole-array expressions, ``None``, ``with``."""
NESTED: Final = {
    "<listcomp>": "a list comprehension",
    "<setcomp>": "a set comprehension",
    "<dictcomp>": "a dict comprehension",
    "<genexpr>": "a generator expression",
    "<lambda>": "a lambda",
}
"""What Python calls the code of functions that have no name."""


def refuse_nested(function: Any) -> None:
    """Refuse a function with others inside, as comprehensions are: the pass for them is left out.

    Without it Numba says ``SyntaxError: invalid syntax`` of a line that nobody wrote, and only when
    the kernel is first called. What a function takes from one around it is a constant, and no harm.
    """
    for constant in function.__code__.co_consts:
        if isinstance(constant, CodeType):
            what = NESTED.get(constant.co_name, f"the function {constant.co_name}")
            raise TypeError(
                f"{function.__module__}.{function.__qualname__}: line {constant.co_firstlineno} "
                f"has {what}, and functions inside kernels are not compiled; write a loop, "
                "or a kernel beside it"
            )


@cache
def kernels_compiler() -> Any:
    """Compiles what Python calls, and with it the parts that it calls."""

    class Kernels(_lean()):  # type: ignore[misc]
        def _compile_core(self) -> Any:
            with _resolving_once(), _counting_from_the_start(), _untimed():
                return super()._compile_core()

    return Kernels


@cache
def parts_compiler(apart: bool = False) -> Any:
    """Compiles what only other kernels call, up to where its callers take it over."""
    codegen: Any = import_module("numba.core.codegen")

    class Environments:
        """Takes a part's environment; the code that needs one is in the callers."""

        def __init__(self, codegen: Any) -> None:
            self._codegen = codegen

        def __getattr__(self, name: str) -> Any:
            return getattr(self._codegen, name)

        def set_env(self, name: str, environment: Any) -> None:
            """There is no machine code to tell."""

    class Part(codegen.JITCodeLibrary):  # type: ignore[misc]
        @property
        def codegen(self) -> Any:
            return Environments(self._codegen)

        def _optimize_functions(self, module: Any) -> None:
            """Tidy it up, no more."""
            module.data_layout = self._codegen._data_layout
            builder = self._codegen._pass_builder()
            for function in module.functions:
                if not function.is_declaration:
                    _tidying().run(function, builder)

        def _optimize_final_module(self) -> None:
            """Callers optimise it together with themselves."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

    class Parts(_lean()):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            target = self.state.targetctx.codegen()
            self.state.library = Part(target, self.state.func_id.func_qualname)
            self.state.flags.noalias = apart
            return super().define_pipelines()

    return Parts


@cache
def _tidying() -> Any:
    """The few passes that make a part small; without them callers take longer than with all."""
    passes = import_module("llvmlite.binding.newpassmanagers").create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    return passes


@cache
def _lean() -> Any:
    compiler: Any = import_module("numba.core.compiler")

    class Lean(compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            instead = {"NativeLowering": import_module("thzsync.jit.lowering").LeanLowering}
            pipelines = super().define_pipelines()
            for pipeline in pipelines:
                pipeline.passes = [
                    (instead.get(one.__name__, one), what)
                    for one, what in pipeline.passes
                    if one.__name__ not in UNUSED
                ]
            return pipelines

    return Lean


@contextmanager
def _resolving_once() -> Iterator[None]:
    """Resolve an operator or function once per types of its arguments.

    Numba tries all its definitions of an operator wherever it occurs. What is written in place is
    not asked of it at all.
    """
    function: Any = import_module("numba.core.types.functions").BaseFunction
    flags: Any = import_module("numba.core.targetconfig").ConfigStack.top_or_none
    direct: Any = import_module("thzsync.jit.direct")
    resolve = function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        what = (self, context, tuple(args), tuple(kws.items()), flags().nrt)
        if what not in _resolved:
            written = direct.written_in_place(self, args, kws)
            _resolved[what] = written or resolve(self, context, args, kws)
        return _resolved[what]

    function.get_call_type = get_call_type
    try:
        yield
    finally:
        function.get_call_type = resolve


@contextmanager
def _counting_from_the_start() -> Iterator[None]:
    """Take every index as it is; only a constant that is the sole index may count from the end.

    Numba would ask of each whether it is negative before it looks where the element is, which made
    the packet kernel a fifth slower. No kernel of ours has an index that turns out to be negative:
    with NUMBA_BOUNDSCHECK=1 it would be an error (tests/test_indices.py).
    """
    arrays: Any = import_module("numba.np.arrayobj")
    ir: Any = import_module("llvmlite.ir")
    whole: Any = import_module("numba.core.types").intp
    usual = arrays.fix_integer_index

    def fix_integer_index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        if isinstance(index, ir.Constant):
            return usual(context, builder, kind, index, size)
        return context.cast(builder, index, kind, whole)

    arrays.fix_integer_index = fix_integer_index
    try:
        yield
    finally:
        arrays.fix_integer_index = usual


@contextmanager
def _untimed() -> Iterator[None]:
    """Do not tell Numba's stopwatches of every step: each kernel in progress has two of them."""
    events: Any = import_module("numba.core.event")
    usual = events.broadcast
    events.broadcast = lambda event: None
    try:
        yield
    finally:
        events.broadcast = usual


_resolved: dict[Any, Any] = {}
"""Kept for the next kernel; some hundred entries once all are compiled."""
