"""References, which come before runs: what realisations share, named by all that decides it.

They take three iterations per seed. Times and energies of All-Wired do not depend on what a second
or a joule is worth, nor on how a learner learns, so scenarios that differ in these share them. They
depend on which energy counts, and on its parameters unless it is transmission alone.
"""

from __future__ import annotations

import hashlib
import json
from typing import Final

from thzsync.files import content_digest
from thzsync.records import References
from thzsync.scenario import Coordinator, Energy, Reward, Scenario
from thzsync.simulation import reference_costs
from thzsync.version import __version__

LEARNING: Final = ("encoder", "search", "gains", "reward", "bandit", "shared_bandit", "ddqn")
"""Keys of the coordinator that only learners read."""
FOUND: Final[dict[str, References]] = {}
"""References that this process has found: its comparisons, sweeps and oracles share them."""


def digest(*parts: object) -> str:
    """A name for plain values: equal values, equal name."""
    text = json.dumps([*parts, __version__], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def realisation_key(scenario: Scenario, seed: int) -> str:
    """Names a scenario in one seed."""
    names = [*(job.trace for job in scenario.jobs), scenario.channel.gains_file]
    files = [content_digest(name) or "" for name in names if name is not None]
    return digest(scenario.digest, files, seed)


def reference_key(scenario: Scenario, seed: int) -> str:
    """Names the references of a realisation."""
    usual = Coordinator()
    coordinator = scenario.coordinator.model_copy(
        update={name: getattr(usual, name) for name in LEARNING}
    )
    counts = scenario.reward.energy
    plain = scenario.model_copy(
        update={"reward": Reward(energy=counts), "coordinator": coordinator}
        | ({"energy": Energy()} if counts == "transmission" else {})
    )
    return realisation_key(plain, seed)


def known_references(scenario: Scenario, seed: int) -> References | None:
    """What was found before in this process, if anything was."""
    return FOUND.get(reference_key(scenario, seed))


def references_of(scenario: Scenario, seed: int) -> References:
    """References of a realisation, simulated here if they are not known."""
    key = reference_key(scenario, seed)
    if key not in FOUND:
        FOUND[key] = reference_costs(scenario, seed)
    return FOUND[key]
