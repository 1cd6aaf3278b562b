"""How kernels are compiled, and where their machine code is kept.

Compiling all kernels takes half a minute, so their machine code is stored. Numba would keep it
beside the sources, know it by the file of the function and its time stamp, and so compile anew in
every checkout. Here stored code is known by what it was made from: a folder in the user's cache
named after the contents of the kernel's folder and of everything that kernels share (the rate
formulas of ``channel/``, the precedence of ``transfers/``, the hash). Checkouts, workers and
installations of the same sources share it; an edit makes a new folder, and old ones are removed.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

SHARED: Final = ("channel", "transfers", "hashing.py")
"""Folders and files whose kernels are used in others."""
GENERATIONS: Final = 12
"""States of one folder's sources whose code is kept, the most recently used."""

UNUSED: Final = ("InlineClosureLikes", "InlineInlinables", "InlineOverloads", "NopythonRewrites")
"""Passes of Numba's compiler that change nothing in kernels like ours."""

_waiting: list[Callable[[], None]] = []


def tell_before_compiling(tell: Callable[[], None]) -> None:
    """Call this once, before the first kernel whose machine code is not stored is compiled."""
    _waiting[:] = [tell]


def about_to_compile() -> None:
    """Tell whoever asked to be told; nobody is told twice."""
    while _waiting:
        _waiting.pop()()


def kernel(function: F) -> F:
    """Compile a kernel: flat arrays in and out, no objects, no files."""
    return compiled(function)


def bare(function: F) -> F:
    """A kernel that never allocates, without Numba's reference counting.

    That costs two atomic operations per array and call: in the packet kernel, ten times the
    simulation itself.
    """
    return compiled(function, _nrt=False)


def inner(function: F) -> F:
    """A kernel that only other kernels call.

    It has no code that takes its arguments out of Python objects: for the packet kernel's parts,
    with their tuple of twenty arrays, that was a third and more of the time spent compiling. It is
    not optimised by itself either, but with its callers.
    """
    return compiled(function, closed=True)


def inner_bare(function: F) -> F:
    """A bare kernel that only other kernels call."""
    return compiled(function, closed=True, _nrt=False)


def hot(function: F) -> F:
    """A piece of an inner loop, always inlined into the kernel that calls it; never allocates."""
    return compiled(function, closed=True, _nrt=False, forceinline=True)


def compiled(function: F, closed: bool = False, **options: Any) -> F:
    """Compile on first use, and keep the machine code until its sources change.

    A ``closed`` kernel cannot be called from Python; its ``py_func`` can.
    """
    njit: Any = import_module("numba").njit  # its annotations leave out the options used here
    made = njit(
        nogil=True,
        no_cpython_wrapper=closed,
        no_cfunc_wrapper=True,
        pipeline_class=_parts_compiler() if closed else _kernels_compiler(),
        **options,
    )(function)
    if not hasattr(made, "_cache"):  # compiling is switched off
        return cast(F, made)
    if closed:
        _close(made)
    else:
        made._cache = _stored_cache()(function)
        _lend(made, partial(compiled, function, closed=True, **options))
    return cast(F, made)


def _lend(made: Any, make_part: Callable[[], Any]) -> None:
    """Let kernels that call a kernel take it as a part; for Python it has code of its own."""
    part = cache(make_part)
    made.get_call_template = lambda args, kws: part().get_call_template(args, kws)
    made.get_overload = lambda signature: part().get_overload(signature)


def _close(made: Any) -> None:
    """Let kernels find a kernel, but not Python: a call without unpacking would be a crash."""

    def add_overload(result: Any) -> None:
        made.overloads[tuple(result.signature.args)] = result

    def refuse(*_: object, **__: object) -> None:
        name = made.py_func.__qualname__
        raise TypeError(f"{name} is called by kernels only; from Python, call {name}.py_func")

    def get_call_template(args: Any, kws: Any) -> Any:
        # a constant as an argument would have a version of its own
        return template(tuple(map(plain, args)), {name: plain(kws[name]) for name in kws})

    plain, template = import_module("numba.core.types").unliteral, made.get_call_template
    made.add_overload, made._compile_for_args = add_overload, refuse
    made.get_call_template = get_call_template


@contextmanager
def _remembering_types() -> Iterator[None]:
    """Resolve an operator or function once per types of its arguments.

    Numba tries all its definitions of an operator wherever it occurs, a sixth of the time that
    compiling takes.
    """
    function: Any = import_module("numba.core.types.functions").BaseFunction
    flags: Any = import_module("numba.core.targetconfig").ConfigStack.top_or_none
    resolve = function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        what = (self, context, tuple(args), tuple(kws.items()), flags().nrt)
        if what not in _resolved:
            _resolved[what] = resolve(self, context, args, kws)
        return _resolved[what]

    function.get_call_type = get_call_type
    try:
        yield
    finally:
        function.get_call_type = resolve


_resolved: dict[Any, Any] = {}


@cache
def _compiler() -> Any:
    """Numba's compiler without the passes that our kernels do not need."""
    compiler: Any = import_module("numba.core.compiler")

    class Lean(compiler.Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            pipelines = super().define_pipelines()
            for pipeline in pipelines:
                pipeline.passes = [one for one in pipeline.passes if one[0].__name__ not in UNUSED]
            return pipelines

    return Lean


@cache
def _kernels_compiler() -> Any:
    """Compiles what Python calls, and with it the parts that it calls."""

    class Kernels(_compiler()):  # type: ignore[misc]
        def _compile_core(self) -> Any:
            with _remembering_types():
                return super()._compile_core()

    return Kernels


@cache
def _parts_compiler() -> Any:
    """Compiles what only other kernels call, up to where its callers take it over.

    Numba would optimise every function, emit its machine code and store it, and its callers', which
    contain it, again. A part is linked into its callers as it is, and optimised there, once.
    """
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

        def _optimize_final_module(self) -> None:
            """Callers optimise it together with themselves."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

    class Parts(_compiler()):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            target = self.state.targetctx.codegen()
            self.state.library = Part(target, self.state.func_id.func_qualname)
            return super().define_pipelines()

    return Parts


def code_folder(home: Path) -> Path | None:
    """Where the machine code of a source folder's kernels is kept; None if nothing can be."""
    sources = sorted(home.glob("*.py"))
    root = Path(__file__).parent
    for name in SHARED:
        sources += sorted((root / name).glob("*.py")) or [root / name]
    digest = hashlib.sha256()
    for file in sources:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    folder = _cache_root() / home.name / digest.hexdigest()[:20]
    try:
        _claim(folder)
    except OSError:
        return None
    return folder


def _cache_root() -> Path:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "thzsync" / "kernels"


def _claim(folder: Path) -> None:
    """Make sure that the folder can be written to; a new one takes the place of the oldest."""
    import shutil
    import tempfile

    known = folder.is_dir()
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    os.utime(folder)
    if not known:
        others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
        for old in others[:-GENERATIONS]:
            shutil.rmtree(old, ignore_errors=True)


_found = cache(code_folder)


@cache
def _leave_out_blas() -> None:
    """Let Numba look for a BLAS when a kernel needs one, which none of ours does.

    It looks before it compiles anything, and finds it by importing a large part of SciPy.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    with_hole: dict[str, Any] = cast(dict[str, Any], sys.modules)
    with_hole[blas] = None
    try:
        import_module("numba.np.arraymath")._HAVE_BLAS = True  # type: ignore[attr-defined]
    finally:
        del with_hole[blas]


@cache
def _loading_library() -> Any:
    """A library that is loaded without what its kernel is linked from: kernels call parts only."""
    codegen: Any = import_module("numba.core.codegen")

    class Library(codegen.JITCodeLibrary):  # type: ignore[misc]
        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            name, kind, data = state
            if kind != "object":
                return super()._unserialize(codegen, state)
            library = cls(codegen, name)
            library.enable_object_caching()
            library._set_compiled_object(data[0])
            library._finalize_final_module()
            return library

        def get_pointer_to_function(self, name: str) -> int:
            # a loaded library is asked for nothing but its entry
            self._codegen._engine._defined_symbols.add(name)
            return int(super().get_pointer_to_function(name))

    return Library


@cache
def _stored_cache() -> Any:
    """The class that Numba asks for stored code and hands new code to."""
    caching: Any = import_module("numba.core.caching")

    class Locator(caching.UserProvidedCacheLocator):  # type: ignore[misc]
        def __init__(self, function: Any, file: str, folder: Path) -> None:
            self._lineno = function.__code__.co_firstlineno
            self._cache_path = str(folder)

        def get_source_stamp(self) -> str:
            return Path(self._cache_path).name  # a digest of the sources

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            folder = _found(Path(file).resolve().parent) if os.path.exists(file) else None
            return None if folder is None else cls(function, file, folder)

    class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator, *caching.CacheImpl._locator_classes)

    class File(caching.IndexDataCacheFile):  # type: ignore[misc]
        def save(self, key: Any, data: Any) -> None:
            # Numba counts its files, and two workers would give one name to different code.
            overloads = self._load_index()
            name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
            overloads[key] = f"{Path(self._index_path).stem}.{name}.nbc"
            self._save_data(overloads[key], data)
            self._save_index(overloads)

    class Stored(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = File(self._cache_path, self._impl.filename_base, stamp)

        def load_overload(self, signature: Any, target: Any) -> Any:
            # Numba would get ready to compile, which takes longer than to load all that is stored.
            import_module("numba.core.runtime").rtsys.initialize(target)
            codegen = target.codegen()
            usual, codegen._library_class = codegen._library_class, _loading_library()
            try:
                found = self._load_overload(signature, target)
            except Exception:  # whatever a damaged file causes: it is made anew
                found = None
                with suppress(OSError):
                    self._cache_file.flush()
            finally:
                codegen._library_class = usual
            if found is None:
                _leave_out_blas()
                about_to_compile()
            return found

    return Stored
