"""About how long many runs take, and how much memory, worked out before they start."""

from __future__ import annotations

from collections.abc import Sequence

from thzsync.coordinator import make_policy
from thzsync.feasibility import Asked, Effort, effort_of
from thzsync.scenario import Scenario
from thzsync.streams import Streams


def run_effort(scenario: Scenario, policy: str, iterations: int, seed: int = 0) -> Effort:
    """What one run of a policy takes of which only the summary is kept."""
    chosen = make_policy(policy, scenario, Streams(seed))
    return effort_of(Asked.of(scenario, chosen, iterations, kept=False, seed=seed))


def comparison_effort(
    scenario: Scenario, policies: Sequence[str], seeds: int, iterations: int, workers: int
) -> Effort:
    """What a comparison takes with some workers, each on a core of its own."""
    runs = [run_effort(scenario, policy, iterations) for policy in policies]
    share = min(workers, seeds * len(runs))
    each_s = sum(run.seconds - run.references_s for run in runs)
    references_s = max(run.references_s for run in runs)
    return Effort(
        decisions=seeds * sum(run.decisions for run in runs),
        reference_decisions=seeds * max(run.reference_decisions for run in runs),
        seconds=seeds * (references_s + each_s) / share,
        references_s=seeds * references_s / share,
        memory_bytes=share * max(run.memory_bytes for run in runs),
        disk_bytes=0.0,
    )
