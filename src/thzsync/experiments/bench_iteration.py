"""What one more training iteration costs: CPU seconds, set-up and references left out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.records import References
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation import simulate

POLICIES: Final = ("all-wired", "thz-sync", "ddqn")
ITERATIONS: Final = 6
"""Iterations over which a marginal cost is taken; learners train more as they go."""
QUICK_ITERATIONS: Final = 2
NO_REFERENCES: Final[References] = {"p2p": (1.0, 1.0), "a2a": (1.0, 1.0), "allreduce": (1.0, 1.0)}
"""Rewards need some scale; measuring one would cost three iterations more."""


def measure(quick: bool = False) -> dict[str, Any]:
    """CPU seconds per iteration, by scenario and policy; a quick look leaves out the large ones.

    Large jobs are carried as flows; their errors against packets are in docs/model.md.
    """
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    figures = {"paper": {p: marginal_s(Scenario.paper(), p, iterations) for p in POLICIES}}
    if quick:
        return figures
    for name, scenario in (("llama3-70b", llama()), ("pod-1024", Scenario.preset("pod-1024"))):
        flows = changed(scenario, {"optical.fidelity": "flow"}, "bench")
        figures[name] = {p: marginal_s(flows, p, 1) for p in POLICIES[:2]}
    figures["pod-4096"] = one_iteration("pod-4096")
    return figures


def marginal_s(scenario: Scenario, policy: str, iterations: int) -> float:
    """CPU seconds of an iteration after the first, which compiles and sets up."""
    _spent_s(scenario, policy, 1)
    return (_spent_s(scenario, policy, 1 + iterations) - _spent_s(scenario, policy, 1)) / iterations


def one_iteration(preset: str) -> dict[str, float]:
    """CPU seconds and peak memory of ``thzsync run``, references included, in a process apart."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["run", preset, "--policy", "all-wired", "--iterations", "1", "--out", folder]
        child = subprocess.Popen(
            [sys.executable, "-m", "thzsync", *asked, "--force"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, spent = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):  # 3: a type is beyond the tolerance of flows
        raise ThzSyncError(f"thzsync run {preset} ended with {child.returncode}")
    return {"cpu_s": spent.ru_utime + spent.ru_stime, "peak_gb": spent.ru_maxrss * 1024 / 1e9}


def llama() -> Scenario:
    """llama3-70b on 8 rings of 8 racks, on the paper's fabrics."""
    paper = changed(
        Scenario.paper(), {"floor.rings": 8, "floor.slots_per_ring": 8}, "bench"
    ).model_dump(mode="json", exclude_none=True)
    return Scenario.model_validate(
        {**paper, "name": "llama3-70b", "jobs": [{"model": {"name": "llama3-70b"}}]}
    )


def _spent_s(scenario: Scenario, policy: str, iterations: int) -> float:
    start = time.process_time()
    simulate(scenario, policy, iterations, references=NO_REFERENCES)
    return time.process_time() - start
