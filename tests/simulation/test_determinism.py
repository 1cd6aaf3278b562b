"""Same scenario, policy and seed: the same bytes, in any process and with any workers."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from thzsync.experiments.compare import compare
from thzsync.scenario import Scenario
from thzsync.simulation import simulate

PROGRAM = """
import sys
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
simulate(Scenario.preset("tiny"), sys.argv[1], 2, seed=7).save(sys.argv[2])
"""


def fingerprint(folder: Path) -> dict[str, str]:
    files = sorted(folder.glob("*.parquet"))
    assert files
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def test_a_fresh_process_writes_the_same_bytes(tmp_path: Path) -> None:
    for policy in ("fixed-ratio", "thz-sync"):
        here, there = tmp_path / f"{policy}-here", tmp_path / f"{policy}-there"
        simulate(Scenario.preset("tiny"), policy, 2, seed=7).save(here)
        subprocess.run([sys.executable, "-c", PROGRAM, policy, str(there)], check=True)
        assert fingerprint(here) == fingerprint(there)


def test_another_seed_is_another_world() -> None:
    one, two = (simulate(Scenario.preset("tiny"), "all-wired", 1, seed=s) for s in (0, 1))
    assert not one.events.equals(two.events)


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    tiny = Scenario.preset("tiny")
    policies = ("fixed-ratio", "all-wired")
    alone, pair = (compare(tiny, policies, 2, 2, workers=n) for n in (1, 2))
    assert alone.iterations.equals(pair.iterations)
    assert alone.events.equals(pair.events)
