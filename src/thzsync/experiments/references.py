"""References that one command has found already: its comparisons and oracles share them.

They take three iterations per seed. Times and energies of All-Wired do not depend on what a second
or a joule is worth, so scenarios that differ in their weights share them as well.
"""

from __future__ import annotations

from thzsync.records import References
from thzsync.scenario import Reward, Scenario
from thzsync.simulation import reference_costs

_found: dict[tuple[str, int], References] = {}


def known_references(scenario: Scenario, seed: int) -> References | None:
    """What was found before in this process, if anything was."""
    return _found.get(_key(scenario, seed))


def remember(scenario: Scenario, seed: int, references: References) -> None:
    """Keep references; those that depend on a file, which may change, are not kept."""
    if scenario.channel.gains_file is None and all(job.trace is None for job in scenario.jobs):
        _found[_key(scenario, seed)] = references


def references_of(scenario: Scenario, seed: int) -> References:
    """References of a realisation, simulated here if they are not known."""
    found = known_references(scenario, seed)
    if found is None:
        found = reference_costs(scenario, seed)
        remember(scenario, seed, found)
    return found


def _key(scenario: Scenario, seed: int) -> tuple[str, int]:
    return scenario.model_copy(update={"reward": Reward()}).digest, seed
