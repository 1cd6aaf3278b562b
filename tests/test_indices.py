"""Indices of kernels are taken as they are; what would lie outside of an array is found here.

Compiled with bounds, a kernel refuses an index that is negative or too large. That costs minutes
of compiling, so it is not done in every test.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thzsync
from thzsync.jit import bare, inner_bare, kernel

HERE = Path(__file__)
SOURCES = Path(thzsync.__file__).parent
KERNELS = {"kernel", "bare", "inner", "inner_bare", "hot", "apart"}
POLICIES = ("thz-sync", "shared-bandit", "ddqn", "all-wired-best", "all-wireless-best")


@inner_bare
def element(x, i):  # type: ignore[no-untyped-def]
    return x[i]


@bare
def in_a_part(x, i):  # type: ignore[no-untyped-def]
    return element(x, i)


@kernel
def in_a_table(x, i, j):  # type: ignore[no-untyped-def]
    return x[i, j]


@kernel
def last(x):  # type: ignore[no-untyped-def]
    return x[-1]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where code with bounds is stored: it must not be mistaken for code without."""
    return tmp_path_factory.mktemp("kernels")


def with_bounds(command: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    told = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | told,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_constant_counts_from_the_end() -> None:
    assert last(np.arange(5.0)) == 4.0


def test_no_kernel_counts_from_the_end_in_a_table() -> None:
    """Numba hides constants among several indices, and they would lie before the array."""
    looked_at = 0
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            if not KERNELS & set(map(ast.unparse, node.decorator_list)):
                continue
            looked_at += 1
            for part in ast.walk(node):
                if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
                    counted = [i for i in part.slice.elts if isinstance(i, ast.UnaryOp)]
                    assert not counted, f"{file.name}: {ast.unparse(part)}"
    assert looked_at > 200


def test_with_bounds_an_index_that_would_lie_outside_is_refused(cache: Path) -> None:
    found = with_bounds([str(HERE)], cache)
    assert found.returncode == 0, found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("fidelity", ["packet", "flow"])
@pytest.mark.parametrize("policy", POLICIES)
def test_no_index_lies_outside(policy: str, fidelity: str, cache: Path) -> None:
    keys = ["--set", f"optical.fidelity={fidelity}", "--set", "optical.trains_per_flow=32"]
    run = ["-m", "thzsync", "run", "tiny", "--policy", policy, "--iterations", "4", *keys]
    found = with_bounds(run, cache)
    assert found.returncode == 0, found.stderr


def _refuse_all() -> None:
    line, table = np.arange(5.0), np.ones((2, 3))
    for function, arguments in (
        (in_a_part, (line, -1)),
        (in_a_part, (line, 5)),
        (in_a_table, (table, -1, 0)),
        (in_a_table, (table, 0, -1)),
        (in_a_table, (table, 0, 3)),
    ):
        try:
            function(*arguments)
        except IndexError:
            continue
        raise AssertionError(f"{function.__name__}{arguments[1:]} was not refused")


if __name__ == "__main__":
    _refuse_all()
