"""Policies side by side: a failed run leaves its seed out, and the picture shows all policies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from thzsync.errors import ThzSyncError
from thzsync.experiments import runs
from thzsync.experiments.compare import Comparison, compare
from thzsync.scenario import Scenario

TINY = Scenario.preset("tiny")
POLICIES = ("all-wired", "fixed-ratio")


def test_a_run_that_fails_takes_its_seed_out_of_all_policies_and_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "simulate", _fails_in_seed_1)
    found = compare(TINY, POLICIES, seeds=3, iterations=1, workers=1)
    assert found.seeds == (0, 2)
    assert found.failures == ({"policy": "fixed-ratio", "seed": 1, "error": "RuntimeError: no"},)
    assert found.document()["failures"] == list(found.failures)
    assert found.iterations["seed"].unique().sort().to_list() == [0, 2]


def _fails_in_seed_1(scenario, policy, iterations, seed, *rest, **options):  # type: ignore[no-untyped-def]
    from thzsync.simulation import simulate

    if (policy.name, seed) == ("fixed-ratio", 1):
        raise RuntimeError("no")
    return simulate(scenario, policy, iterations, seed, *rest, **options)


def test_when_no_seed_is_left_the_first_error_is_told() -> None:
    broken = TINY.with_(channel__gains_file="nowhere.csv")
    with pytest.raises(ThzSyncError, match=r"nowhere\.csv"):
        compare(broken, POLICIES, seeds=2, iterations=1, workers=1)


def test_the_picture_has_a_line_and_a_band_per_policy() -> None:
    found = compare(TINY, POLICIES, seeds=2, iterations=2, workers=1)
    (axes,) = found.plot("energy_j").axes
    assert [line.get_label() for line in axes.get_lines()] == list(POLICIES)
    assert axes.get_ylabel() == "Transmission energy [J]"
    with pytest.raises(ThzSyncError, match=r"metric: found 'speed'; .*energy_j"):
        found.plot("speed")


SCRIPT = """
import sys
from thzsync.cli import main, meter
meter.LINE_EVERY_S = 0.02
arguments = ["compare", "tiny", "--policies", "all-wired", "--seeds", "60", "--iterations", "1"]
sys.exit(main([*arguments, "--workers", "2", "--out", "kept"]))
"""


def test_sigterm_saves_the_finished_seeds_and_leaves_no_worker_behind(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.match(r"compare: [1-9]\d* of 60 runs", line):
                break
        workers = _children(process.pid)
        process.terminate()
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "kept" in rest
    assert len(Comparison.load(tmp_path / "kept").seeds) >= 1
    assert workers
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
