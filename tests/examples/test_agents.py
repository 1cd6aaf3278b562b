"""The recipe for a library that the package does not need runs where that library is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "agents" / "stable_baselines.py"


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_stable_baselines_learns(algorithm: str) -> None:
    pytest.importorskip("stable_baselines3")
    command = [sys.executable, str(SCRIPT), algorithm, "--steps", "64"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert re.search(rf"{algorithm}: -\d\S+, All-Wired: -1\.0", run.stdout)
