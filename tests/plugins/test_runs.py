"""A package that is installed nowhere, but named in a scenario, works wherever runs are done."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from tests.plugins.lab import thzsync, write_lab
from tests.studies.sweeps import THZSYNC, environment, outcome, stored
from tests.studies.test_cluster import started, told, worker

SWEEP = [
    *("sweep", "lab/all.toml", "--set", "thz.max_power_w=0.05,0.2"),
    *("--policies", "all-wired,best-share", "--seeds", "1", "--iterations", "1"),
]


@pytest.fixture
def above(tmp_path: Path) -> Path:
    """The folder above that of the scenario."""
    write_lab(tmp_path / "lab")
    return tmp_path


def test_a_run_names_its_plugins_and_is_audited_by_its_record(above: Path) -> None:
    thzsync(above, "run", "lab/all.toml", "--policy", "best-share", "--iterations", "1",
            "--out", "run", "--save", "learnt")  # fmt: skip
    told = json.loads((above / "run/run.json").read_text())["plugins"]
    assert told["star_lab.methods"]["version"] == "1.2"
    assert len(told["star_lab.methods"]["sha256"]) == 64
    events = pl.read_parquet(above / "run/events.parquet")
    assert events["method"].to_list() == ["star"] * 3
    thzsync(above, "audit", "run")
    thzsync(above, "report", "run")
    thzsync(above, "run", "lab/all.toml", "--policy", "best-share", "--iterations", "1",
            "--from", "learnt", "--frozen", "--out", "frozen")  # fmt: skip
    assert json.loads((above / "frozen/run.json").read_text())["learning"] == ""
    thzsync(above, "audit", "frozen")
    (above / "again").mkdir()
    lost = thzsync(above / "again", "audit", "../run", status=2).stderr
    assert len(lost.splitlines()) == 1
    assert "star_lab" in lost
    assert "scenario.toml" in lost
    found = [f"--plugin=../lab/star_lab.{name}" for name in ("methods", "kinds", "policies")]
    thzsync(above / "again", "audit", "../run", *found)

    file = above / "lab/star_lab/methods.py"
    file.write_text(file.read_text() + "# another version\n")
    changed = thzsync(above, "audit", "run").stderr
    assert len(changed.splitlines()) == 3
    assert "star_lab.methods" in changed


def test_two_workers_get_it(above: Path) -> None:
    thzsync(above, "compare", "lab/all.toml", "--policies", "all-wired,best-share", "--seeds",
            "2", "--iterations", "1", "--workers", "2", "--out", "compared")  # fmt: skip
    events = pl.read_parquet(above / "compared/events.parquet")
    used = events.filter(pl.col("kind") == "allreduce")["method"].unique().to_list()
    assert used == ["star"]


def test_a_sweep_is_interrupted_resumed_and_done_on_a_cluster(above: Path) -> None:
    whole = above / "whole"
    thzsync(above, *SWEEP, "--workers", "1", "--out", "whole")
    assert len(stored(whole)) == 4
    process = subprocess.Popen(
        [THZSYNC[0], "-P", *THZSYNC[1:], *SWEEP, "--workers", "2", "--out", "part"],
        cwd=above, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while process.poll() is None and not stored(above / "part"):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(120)
    thzsync(above, *SWEEP, "--workers", "2", "--out", "part", "--resume")
    assert stored(above / "part") == stored(whole)

    pytest.importorskip("distributed", reason="needs the extra cluster")
    with started("scheduler", "--host", "127.0.0.1", "--no-dashboard", "--port", "0") as scheduler:
        address = told(scheduler, r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")
        with worker(address, above / "worker"):
            thzsync(above, *SWEEP, "--scheduler", address, "--out", "far")
    assert outcome(above / "far") == outcome(whole)

    # other contents, other results: nothing of the old plug-in counts as finished
    file = above / "lab/star_lab/methods.py"
    file.write_text(file.read_text() + "# another version\n")
    plan = thzsync(above, *SWEEP, "--out", "part", "--resume", "--dry-run", "--json").stdout
    assert json.loads(plan)["done"] == 0
