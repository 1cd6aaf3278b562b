"""Runs tests against sources with a mutant, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.mutant import ROOT, SOURCES, Mutant, copy_sources

ALL_PASSED, SOME_FAILED = 0, 1
"""Exit codes of pytest; every other one means that the tests could not be run."""
NOT_IMPORTED = "ERROR collecting"
"""What pytest says of a test file that cannot be imported: no verdict either."""
LONGEST_S = 600
"""A mutant that makes a loop endless gets no verdict: name a test that fails instead."""


def survives(mutant: Mutant) -> bool:
    """Whether the mutant's tests all pass with it."""
    with TemporaryDirectory() as folder:
        sources = copy_sources(Path(folder))
        mutant.plant(sources)
        return run_tests(mutant.tests, sources, compiled=not mutant.in_kernels)


def sound(mutants: Sequence[Mutant]) -> bool:
    """Whether the tests of all these pass without them; otherwise a kill would prove nothing.

    Run first, it also leaves the machine code behind that copies of the sources then share.
    """
    for in_kernels in (False, True):
        tests = {test for m in mutants if m.in_kernels == in_kernels for test in m.tests}
        if tests and not run_tests(sorted(tests), SOURCES, compiled=not in_kernels):
            return False
    return True


def run_tests(tests: Iterable[str], sources: Path, compiled: bool) -> bool:
    """Whether all pass; kernels that would have to be compiled first run as plain Python."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=short", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-p", "no:xdist", *tests],
        cwd=ROOT,
        env=_environment(sources, compiled),
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    if done.returncode not in (ALL_PASSED, SOME_FAILED) or NOT_IMPORTED in done.stdout:
        raise RuntimeError(f"the tests could not be run:\n{done.stdout}{done.stderr}")
    return done.returncode == ALL_PASSED


def _environment(sources: Path, compiled: bool) -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "THZSYNC"))}
    plain = {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    return own | plain | {"PYTHONPATH": str(sources)}
