"""What one more training iteration costs: CPU seconds, set-up and references left out."""

from __future__ import annotations

import time
from typing import Any, Final

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
    """CPU seconds per iteration, by scenario and policy; a quick look leaves out the large ones."""
    iterations = QUICK_ITERATIONS if quick else ITERATIONS
    figures = {"paper": {p: marginal_s(Scenario.paper(), p, iterations) for p in POLICIES}}
    if not quick:
        for name, scenario in (("llama3-70b", llama()), ("pod-1024", Scenario.preset("pod-1024"))):
            figures[name] = {p: marginal_s(scenario, p, 1) for p in POLICIES[:2]}
    return figures


def marginal_s(scenario: Scenario, policy: str, iterations: int) -> float:
    """CPU seconds of an iteration after the first, which compiles and sets up."""
    _spent_s(scenario, policy, 1)
    return (_spent_s(scenario, policy, 1 + iterations) - _spent_s(scenario, policy, 1)) / iterations


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
