"""Every script in `examples/` runs as a newcomer runs it: as a program, in a folder of its own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
LONGEST = 70
"""Lines; a longer example would not be read."""
SHOWN = {
    "comparing": r"fixed-ratio: \S+ ± \S+ ms, \S+ ± \S+ ms beside all-wired\n"
    r"wrote compared/report\.html",
    "faults": r"[1-9]\d* chunks fell back to fibre, [1-9]\d* were moved to THz\n"
    r"\d{4,} facts checked, 0 violated",
    "own_model": r"a2a: \d+ events, \S+ ms each, [1-9]\d* bytes on THz",
    "own_policy": r"± \S+ ms against fixed-ratio: (faster|slower|too close to call)",
    "two_jobs": r"second, iteration 0: 21\.00 to",
}
"""What each must print somewhere."""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_runs_and_shows_what_it_says(script: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert re.search(SHOWN[script.stem], run.stdout), run.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_opens_with_what_it_covers_and_is_short(script: Path) -> None:
    text = script.read_text("utf-8")
    opening = ast.get_docstring(ast.parse(text)) or ""
    assert "Covers:\n\n- " in opening
    assert len(text.splitlines()) <= LONGEST


def test_sharing_a_fibre_costs_the_second_job_time(tmp_path: Path) -> None:
    script = next(path for path in SCRIPTS if path.stem == "two_jobs")
    command = [sys.executable, str(script)]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    alone, shared = re.findall(r"^second (?:alone|beside first): ([\d.]+) ms", shown, re.M)
    assert float(shared) > float(alone)
