"""Stored machine code follows every file that it was made from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CALLER = """
from thzsync.jit import kernel
from helper import factor

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


def answer(folder: Path, factor: int) -> str:
    (folder / "helper.py").write_text(HELPER.format(factor=factor))
    os.utime(folder / "helper.py", ns=(factor, factor))  # a second edit within one clock tick
    program = "from caller import scaled; print(scaled(10))"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def test_a_kernel_is_renewed_when_a_neighbouring_file_changes(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(CALLER)
    assert answer(tmp_path, 2) == "20"
    assert list((tmp_path / "__pycache__").glob("*.nbc"))
    assert answer(tmp_path, 3) == "30"
