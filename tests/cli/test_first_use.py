"""Kernels of a fresh installation are compiled once, and nothing is left for the first run."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from thzsync import jit, simulation
from thzsync.cli import first_use

LEFT = """
from numba.core import event
from thzsync.cli import first_use
from thzsync.scenario import Scenario
from thzsync.simulation import simulate

first_use.prepare(2)
assert first_use.missing() == []
with event.install_recorder("numba:compile") as recorded:
    for policy in ("thz-sync", "ddqn"):
        simulate(Scenario.preset("tiny"), policy, 12)
names = {found.data["dispatcher"].py_func.__qualname__ for _, found in recorded.buffer}
print(sorted(names))
"""


def test_every_kernel_is_compiled_code() -> None:
    """A plain function is never stored: every command would prepare kernels anew."""
    for kernel in first_use.KERNELS:
        module, _, name = kernel.replace("/", ".").rpartition(".")
        assert hasattr(getattr(import_module(f"thzsync.{module}"), name), "py_func"), kernel


def test_what_is_missing_is_compiled_once_it_was_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use, "code_folder", lambda home: tmp_path / home.name)
    (tmp_path / "wireless").mkdir()
    (tmp_path / "wireless" / "streaming.stream-1.py311.nbi").touch()
    assert set(first_use.KERNELS) - set(first_use.missing()) == {"wireless/streaming.stream"}
    called, told = list[str](), list[str]()
    monkeypatch.setattr(simulation, "simulate", lambda _, policy, *__: called.append(policy))
    jit.tell_before_compiling(lambda: told.append("told"))
    first_use.prepare(1)
    assert (called, told) == ([], []), "one worker compiles on demand"
    first_use.prepare(2)
    assert called == [policy for policy, _ in first_use.RUNS]
    assert told == ["told"]


def test_nothing_is_missing_where_nothing_can_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "code_folder", lambda home: None)
    assert first_use.missing() == []


def test_nothing_is_missing_where_nothing_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_use, "code_folder", lambda home: tmp_path)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert len(first_use.missing()) == len(first_use.KERNELS)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert first_use.missing() == []


@pytest.mark.slow  # compiles everything
def test_nothing_is_left_to_compile(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LEFT], env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout.split("\n")[0] == "[]"
