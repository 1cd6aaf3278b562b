"""The range of Numba that pyproject allows: its newest release is pinned, its oldest tried here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SUITE = ("tests/test_held.py", "tests/test_indices.py")


def bounds(name: str) -> tuple[str, str]:
    """The oldest release that pyproject allows, and the first that it does not."""
    (found,) = (re.fullmatch(rf"{name}>=([\d.]+)(?:,<([\d.]+))?", d) for d in allowed(name))
    assert found is not None
    return found[1], found[2] or ""


def allowed(name: str) -> list[str]:
    return [one for one in PROJECT["dependencies"] if re.match(rf"{name}\W", one)]


def test_the_pinned_numba_is_the_newest_that_is_allowed() -> None:
    pinned = re.search(r"^numba==(\d+)\.(\d+)", (ROOT / "constraints.txt").read_text(), re.M)
    assert pinned is not None
    assert bounds("numba")[1] == f"{pinned[1]}.{int(pinned[2]) + 1}"


@pytest.mark.slow  # installs Numba, and compiles everything
def test_kernels_work_with_the_oldest_numba_and_numpy(tmp_path: Path) -> None:
    """In an environment of its own; all other packages are those that are installed here."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    oldest = [f"numba=={bounds('numba')[0]}.0", f"numpy=={bounds('numpy')[0]}.*"]
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install", *oldest]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False)
    if installed.returncode:
        why = (installed.stderr.strip().splitlines() or ["pip says nothing"])[-1]
        pytest.skip(f"no package index has {' and '.join(oldest)}: {why}")
    (own,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    here = sysconfig.get_paths()["purelib"], str(ROOT / "src")
    (own / "zz_others.pth").write_text("\n".join(here))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    for command in (
        ["-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *SUITE],
        ["-m", "thzsync", "run", "tiny", "--iterations", "2", "--policy", "thz-sync"],
        ["-m", "thzsync", "run", "tiny", "--iterations", "1", "--set", "optical.fidelity=flow"],
    ):
        done = subprocess.run(
            [python, *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
