"""Random parameters of energy under several policies: every record passes the audit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.energy.settings import ALL_KEYS
from thzsync.auditor import audit
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.results import COUNTED

POLICIES = ("all-wired", "all-wireless", "fixed-ratio", "thz-sync", "ddqn", "all-wired-best")
LARGEST = {"w": 1e7, "port": 1e7, "switch": 1e7, "share": 1.0, "efficiency": 1.0, "bit": 1.0}
SEEDS = [*range(6), *(pytest.param(k, marks=pytest.mark.slow) for k in range(6, 300))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_parameters_are_audited_clean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = {}
    for key in ALL_KEYS:
        most = LARGEST[key.rpartition("_")[2]]
        value = rng.choice([0.0, most, most * rng.random(), most * 10 ** rng.uniform(-15, 0)])
        keys[key] = float(np.clip(value, 1e-6 if key.endswith("efficiency") else 0.0, most))
    if rng.random() < 0.5:
        del keys["energy.fibre.link_j_per_bit"]
    kind = str(rng.choice(["rings", "leaf-spine", "fat-tree", "rail-optimised"]))
    names = {"network.kind": kind, "reward.energy": str(rng.choice(list(COUNTED)))}
    scenario = Scenario.preset("tiny").with_({**keys, **names})
    run = simulate(scenario, str(rng.choice(POLICIES)), iterations=1, seed=seed)
    assert audit(run).violations == []
