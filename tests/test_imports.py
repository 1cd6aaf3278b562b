from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = {
    "google.protobuf",
    "gymnasium",
    "matplotlib",
    "numba",
    "ortools",
    "plotly",
    "polars",
    "scipy",
    "simpy",
    "torch",
}


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('@', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.rsplit("@", 1)[1].split())


def test_imports_point_one_way() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_help_imports_nothing_heavy() -> None:
    loaded = loaded_after("from thzsync.cli import main\nassert main(['--help']) == 0")
    assert not loaded & HEAVY
    assert not loaded & {"numpy", "pydantic"}, "help needs no scenario"


def test_the_package_and_its_models_import_nothing_heavy() -> None:
    assert not loaded_after("import thzsync, thzsync.scenario, thzsync.workload") & HEAVY


def test_generating_a_trace_needs_no_heavy_library(tmp_path: Path) -> None:
    arguments = ["trace", "generate", "tiny", "--out", str(tmp_path / "trace.jsonl.gz")]
    run = f"from thzsync.cli import main\nassert main({arguments!r}) == 0"
    assert not loaded_after(run) & HEAVY
