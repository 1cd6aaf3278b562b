"""Stored machine code follows every file that it was made from, and nothing else."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
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
    assert len(list(stored.glob("p/*"))) == 2, "one folder per state of the sources"


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


def test_a_bare_kernel_calls_one_that_allocates() -> None:
    """What a kernel calls keeps its own options, whoever compiles it first."""

    @jit.kernel
    def made(x: float) -> Any:
        return np.full(3, x)

    @jit.bare
    def total(x: float) -> float:
        return float(made(x)[0])

    assert total(2.0) == 2.0
    assert made(2.0).tolist() == [2.0, 2.0, 2.0]


def test_a_kernel_may_take_constants_from_around_it() -> None:
    factor = 3.0

    @jit.kernel
    def tripled(x: float) -> float:
        return factor * x

    assert tripled(2.0) == 6.0


def test_a_kernel_may_have_functions_inside() -> None:
    @jit.kernel
    def squares(x: float) -> float:
        def squared(v: float) -> float:
            return v * v

        return sum([squared(v) for v in (1.0, x)])

    assert squares(3.0) == 10.0


def test_nothing_is_compiled_where_numba_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("numba").config, "DISABLE_JIT", True)
    assert jit.kernel(doubled) is doubled


def doubled(x: float) -> float:
    return 2 * x


def test_functions_that_are_not_ours_are_stored_where_numba_stores_them() -> None:
    numba = import_module("numba")
    theirs = numba.njit(doubled, cache=True)
    assert theirs.stats.cache_path != jit.kernel(doubled).stats.cache_path  # type: ignore[attr-defined]


def test_kernels_are_made_of_files_that_the_digest_of_their_folder_covers() -> None:
    """What a kernel takes from another folder of the package is in `stored.SHARED`."""
    covered = {pattern.split("/")[0].removesuffix(".py") for pattern in stored.SHARED}
    looked_at = 0
    for file in sorted(stored.PACKAGE.rglob("*.py")):
        own, tree = file.parent.name, ast.parse(file.read_text())
        origin = {
            alias.asname or alias.name: node.module.split(".")[1]
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("thzsync.")
            for alias in node.names
        }
        for kernel in kernels(tree):
            looked_at += 1
            body = {n.id for part in kernel.body for n in ast.walk(part) if isinstance(n, ast.Name)}
            taken = {origin[name] for name in body & origin.keys()}
            assert taken <= covered | {own}, f"{own}/{file.name}: {kernel.name}"
    assert looked_at > 200


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {ast.unparse(decorator) for decorator in node.decorator_list}
            if names & {"kernel", "bare", "inner", "inner_bare", "hot", "apart"}:
                yield node


def test_code_of_a_kernel_from_elsewhere_follows_the_whole_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "stored"))
    package, elsewhere = tmp_path / "package", tmp_path / "mine"
    (package / "room").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.setattr(stored, "PACKAGE", package)
    found = []
    for state in "ab":
        (package / "room" / "kernel.py").write_text(state)
        stored._digest_of_package.cache_clear()
        found.append(jit.code_folder(elsewhere))
    stored._digest_of_package.cache_clear()
    assert found[0] != found[1]


def test_code_of_a_module_that_cannot_be_imported_is_not_stored(tmp_path: Path) -> None:
    """A script that is executed by its path has no module for the next process to import."""
    script = tmp_path / "script.py"
    script.write_text("from thzsync.jit import bare\n\n\n@bare\ndef one():\n    return 1\n")
    known: dict[str, Any] = {}
    exec(compile(script.read_text(), str(script), "exec"), known)
    assert known["one"]() == 1
    assert known["one"].stats.cache_path is None
