"""Stored machine code follows every file that it was made from, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from thzsync import jit
from thzsync.jit import stored

CALLER = """
from thzsync.jit import kernel, tell_before_compiling
from helper import factor

tell_before_compiling(lambda: print("compiling"))

@kernel
def scaled(x):
    return x * factor(x)
"""
HELPER = """
from thzsync.jit import kernel

@kernel
def factor(x):
    return {factor}
"""


def answer(folder: Path, stored: Path, factor: int) -> list[str]:
    """What the program in a folder prints: whether it compiles, and its result."""
    (folder / "caller.py").write_text(CALLER)
    (folder / "helper.py").write_text(HELPER.format(factor=factor))
    os.utime(folder / "helper.py", ns=(7, 7))  # an edit within one clock tick
    program = "from caller import scaled; print(scaled(10))"
    paths = os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(stored),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode().split()


@pytest.mark.slow  # three interpreters that import Numba
def test_a_kernel_is_renewed_when_a_neighbouring_file_changes(tmp_path: Path) -> None:
    here, elsewhere, stored = tmp_path / "one" / "p", tmp_path / "two" / "p", tmp_path / "stored"
    for folder in (here, elsewhere):
        folder.mkdir(parents=True)
    assert answer(here, stored, 2) == ["compiling", "20"]
    assert answer(here, stored, 3) == ["compiling", "30"]
    assert answer(elsewhere, stored, 3) == ["30"], "another checkout of the same sources"
    assert len(list(stored.glob("p/*/*.nbc"))) == 2, "one per state of the only kernel called"


@pytest.mark.slow  # five interpreters that import Numba
def test_damaged_code_is_made_anew(tmp_path: Path) -> None:
    here, stored = tmp_path / "p", tmp_path / "stored"
    here.mkdir()
    assert answer(here, stored, 2) == ["compiling", "20"]
    for pattern in ("*.nbc", "*.nbi"):
        for file in stored.rglob(pattern):
            file.write_bytes(file.read_bytes()[:-20])
        assert answer(here, stored, 2) == ["compiling", "20"]
        assert answer(here, stored, 2) == ["20"]


@pytest.mark.slow  # two interpreters that import Numba
def test_a_loaded_kernel_can_be_compiled_into_another(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER.format(factor=7))
    (tmp_path / "caller.py").write_text(CALLER)
    programs = (
        "from helper import factor; print(factor(10))",
        "from caller import factor, scaled; print(factor(10), scaled(10), scaled(10.0))",
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", ""))),
        "NUMBA_CACHE_DIR": str(tmp_path / "stored"),
    }
    said = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, check=True, capture_output=True
        ).stdout.split()
        for program in programs
    ]
    assert said == [[b"7"], [b"compiling", b"7", b"70", b"70.0"]]


def test_old_generations_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "stored"))
    monkeypatch.setattr(stored, "GENERATIONS", 3)
    source = tmp_path / "sources"
    source.mkdir()
    folders = []
    for state in range(5):
        (source / "a.py").write_text(str(state))
        folder = jit.code_folder(source)
        assert folder is not None
        os.utime(folder, (state, state))
        folders.append(folder)
    assert [folder.is_dir() for folder in folders] == [False, False, True, True, True]


def test_without_a_place_to_write_numba_looks_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    assert jit.code_folder(tmp_path) is None


def test_a_kernel_that_is_typed_at_a_prompt_is_compiled_and_not_stored() -> None:
    typed: dict[str, Any] = {}
    exec("def doubled(x):\n    return 2 * x", typed)
    assert jit.kernel(typed["doubled"])(1.5) == 3.0


def test_a_kernel_for_kernels_is_not_called_from_python() -> None:
    @jit.inner
    def doubled(x: float) -> float:
        return 2 * x

    @jit.kernel
    def quadrupled(x: float) -> float:
        return doubled(doubled(x))

    for call in (lambda: doubled(1.5), lambda: quadrupled(1.5) and doubled(1.5)):
        with pytest.raises(TypeError, match="called by kernels only"):
            call()
    assert quadrupled(1.5) == 6.0
    assert doubled.py_func(1.5) == 3.0  # type: ignore[attr-defined]


def test_a_part_has_no_machine_code_of_its_own() -> None:
    @jit.inner
    def refused(x: float) -> float:
        if x < 0:
            raise ValueError("negative")
        return x

    @jit.kernel
    def root(x: float) -> float:
        return refused(x) ** 0.5

    assert root(4.0) == 2.0
    with pytest.raises(ValueError, match="negative"):  # errors find their way through
        root(-1.0)
    (part,) = refused.dispatcher.overloads.values()  # type: ignore[attr-defined]
    assert part.library.get_pointer_to_function(part.fndesc.llvm_func_name) == 0
    (whole,) = root.overloads.values()  # type: ignore[attr-defined]
    assert whole.library.get_pointer_to_function(whole.fndesc.llvm_func_name) != 0


def test_a_kernel_that_a_kernel_calls_has_code_of_its_own_when_python_calls_it() -> None:
    @jit.kernel
    def halved(x: float) -> float:
        return x / 2

    @jit.kernel
    def quartered(x: float) -> float:
        return halved(halved(x))

    assert quartered(10.0) == 2.5
    assert not halved.overloads  # type: ignore[attr-defined]
    assert halved(10.0) == 5.0
    assert len(halved.overloads) == 1  # type: ignore[attr-defined]


def test_numba_is_as_it_was_after_compiling() -> None:
    function = import_module("numba.core.types.functions").BaseFunction
    before = function.get_call_type

    @jit.kernel
    def wrong(x: float) -> float:
        return x + "one"  # type: ignore[operator, no-any-return]

    with pytest.raises(Exception, match="No implementation of function"):
        wrong(1.0)
    assert function.get_call_type is before


def doubled(x: float) -> float:
    return 2 * x


def with_list(x: float) -> int:
    return len([v * x for v in (1.0, 2.0)])


def with_set(x: float) -> int:
    return len({v * x for v in (1.0, 2.0)})


def with_dict(x: float) -> int:
    return len({v: v * x for v in (1.0, 2.0)})


def with_generator(x: float) -> float:
    return sum(v * x for v in (1.0, 2.0))


def with_lambda(x: float) -> float:
    return max((1.0, 2.0), key=lambda v: v * x)


def with_function(x: float) -> float:
    def scaled(v: float) -> float:
        return v * x

    return scaled(2.0)


INLINED = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="comprehensions are loops of their function since then"
)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        pytest.param(with_list, "a list comprehension", marks=INLINED),
        pytest.param(with_set, "a set comprehension", marks=INLINED),
        pytest.param(with_dict, "a dict comprehension", marks=INLINED),
        (with_generator, "a generator expression"),
        (with_lambda, "a lambda"),
        (with_function, "the function scaled"),
    ],
)
@pytest.mark.parametrize(
    "decorate", [jit.kernel, jit.bare, jit.inner, jit.inner_bare, jit.apart, jit.hot]
)
def test_a_kernel_with_functions_inside_is_refused_when_it_is_decorated(
    decorate: Any, function: Any, what: str
) -> None:
    line = function.__code__.co_firstlineno + 1
    name = f"{function.__module__}.{function.__name__}"
    with pytest.raises(TypeError, match=re.escape(f"{name}: line {line} has {what}, and")):
        decorate(function)


def test_a_kernel_may_take_constants_from_around_it() -> None:
    factor = 3.0

    @jit.kernel
    def tripled(x: float) -> float:
        return factor * x

    assert tripled(2.0) == 6.0


def test_nested_functions_are_refused_without_compiling_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(import_module("numba.core.config"), "DISABLE_JIT", True)
    assert jit.kernel(doubled) is doubled
    with pytest.raises(TypeError, match="a generator expression"):
        jit.kernel(with_generator)
