"""References that one command has found already: its comparisons and oracles share them.

They take three iterations per seed. Times and energies of All-Wired do not depend on what a second
or a joule is worth, nor on how a learner learns, so scenarios that differ in these share them.
"""

from __future__ import annotations

from typing import Final

from thzsync.records import References
from thzsync.scenario import Coordinator, Reward, Scenario
from thzsync.simulation import reference_costs

LEARNING: Final = ("encoder", "search", "gains", "reward", "bandit", "shared_bandit", "ddqn")
"""Keys of the coordinator that only learners read."""
_found: dict[tuple[str, int], References] = {}


def known_references(scenario: Scenario, seed: int) -> References | None:
    """What was found before in this process, if anything was."""
    return _found.get((reference_digest(scenario), seed))


def remember(scenario: Scenario, seed: int, references: References) -> None:
    """Keep references; those that depend on a file, which may change, are not kept."""
    if scenario.channel.gains_file is None and all(job.trace is None for job in scenario.jobs):
        _found[reference_digest(scenario), seed] = references


def references_of(scenario: Scenario, seed: int) -> References:
    """References of a realisation, simulated here if they are not known."""
    found = known_references(scenario, seed)
    if found is None:
        found = reference_costs(scenario, seed)
        remember(scenario, seed, found)
    return found


def reference_digest(scenario: Scenario) -> str:
    """Names what the references of a scenario depend on."""
    usual = Coordinator()
    coordinator = scenario.coordinator.model_copy(
        update={name: getattr(usual, name) for name in LEARNING}
    )
    return scenario.model_copy(update={"reward": Reward(), "coordinator": coordinator}).digest
