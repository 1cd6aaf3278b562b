"""What one more training iteration costs: CPU seconds, set-up and references left out.

Jobs of thousands of events have a process each: what others leave in memory costs nobody anything,
kernels are loaded beforehand, and an iteration is simulated once.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.contact import Tell
from thzsync.coordinator.static import ALL_WIRED
from thzsync.errors import ThzSyncError
from thzsync.records import References
from thzsync.records.journal import Journal, RunSpec
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation import reference_costs, simulate

POLICIES: Final = ("all-wired", "thz-sync", "ddqn")
LARGE: Final = ("llama3-70b", "pod-1024")
RECORDED: Final = "pod-4096"
"""Measured with its record on disk, for the memory that it takes."""
ITERATIONS: Final = 6
"""Iterations over which a marginal cost is taken; learners train more as they go."""
QUICK_ITERATIONS: Final = 2
NO_REFERENCES: Final[References] = {"p2p": (1.0, 1.0), "a2a": (1.0, 1.0), "allreduce": (1.0, 1.0)}
"""Where nobody looks at rewards; who learns is given those of the scenario, untimed."""


def measure(quick: bool = False, tell: Tell = lambda what: None) -> dict[str, Any]:
    """CPU seconds per iteration, by scenario and policy; a quick look leaves out the large ones.

    Large jobs are carried as flows. Their errors by collective type, as the run itself sampled
    them, stand beside; those against whole runs of packets are in docs/model.md.
    """
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    paper: dict[str, float] = {}
    for policy in POLICIES:
        tell(f"paper, {policy}")
        paper[policy] = marginal_s(Scenario.paper(), policy, iterations)
    figures: dict[str, Any] = {"paper": paper}
    if quick:
        return figures
    for name in LARGE:
        found = {}
        for policy in POLICIES[:2]:
            tell(f"{name}, {policy}")
            found[policy] = apart(name, policy)
        figures[name] = {policy: one["cpu_s"] for policy, one in found.items()}
        figures[name]["errors"] = {policy: one["errors"] for policy, one in found.items()}
    tell(f"{RECORDED}, {POLICIES[0]}, with its record on disk")
    figures[RECORDED] = apart(RECORDED, POLICIES[0])
    return figures


def marginal_s(scenario: Scenario, policy: str, iterations: int) -> float:
    """CPU seconds of an iteration after the first, which compiles and sets up."""
    references = _references(scenario, policy)
    _spent_s(scenario, policy, 1, references)
    first_s = _spent_s(scenario, policy, 1, references)
    return (_spent_s(scenario, policy, 1 + iterations, references) - first_s) / iterations


def apart(name: str, policy: str) -> dict[str, Any]:
    """What `one_iteration` finds in a process of its own."""
    child = subprocess.run(
        [sys.executable, "-m", __name__, name, policy],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode:
        last = (child.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise ThzSyncError(f"measuring {name} under {policy} ended with {child.returncode}: {last}")
    found: dict[str, Any] = json.loads(child.stdout)
    return found


def one_iteration(name: str, policy: str) -> dict[str, Any]:
    """CPU seconds of one iteration in flows, the peak of memory, and the errors it sampled."""
    scenario = llama() if name == LARGE[0] else Scenario.preset(name)
    flows = changed(scenario, {"optical.fidelity": "flow"}, "bench")
    # loads or compiles every kernel: those for runs of chunks, too, as there are few trains
    few = {"optical.fidelity": "flow", "optical.trains_per_flow": 32}
    simulate(changed(Scenario.paper(), few, "bench"), policy, 1, references=NO_REFERENCES)
    references = _references(flows, policy)
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        journal = None
        if name == RECORDED:
            journal = Journal.begin(folder, RunSpec(flows, policy, 0, 1, references))
        run = simulate(flows, policy, 1, references=references, journal=journal)
        if journal is not None:
            run.save(folder)
    spent_s = time.process_time() - start
    errors = {} if run.fidelity is None else {k.kind: k.error for k in run.fidelity.by_kind()}
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"cpu_s": spent_s, "peak_gb": peak_bytes / 1e9, "errors": errors}


def llama() -> Scenario:
    """llama3-70b on 8 rings of 8 racks, on the paper's fabrics."""
    paper = changed(
        Scenario.paper(), {"floor.rings": 8, "floor.slots_per_ring": 8}, "bench"
    ).model_dump(mode="json", exclude_none=True)
    return Scenario.model_validate(
        {**paper, "name": "llama3-70b", "jobs": [{"model": {"name": "llama3-70b"}}]}
    )


def _references(scenario: Scenario, policy: str) -> References:
    """What a learner's rewards are measured by; with other scales it would decide otherwise."""
    return NO_REFERENCES if policy == ALL_WIRED.name else reference_costs(scenario, seed=0)


def _spent_s(scenario: Scenario, policy: str, iterations: int, references: References) -> float:
    start = time.process_time()
    simulate(scenario, policy, iterations, references=references)
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(one_iteration(*sys.argv[1:])))
