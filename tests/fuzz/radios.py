"""Random radios, channels and energies on a small floor: what is accepted must run and hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.files import parse_scenario
from thzsync.simulation import simulate
from thzsync.synthesis import method_names
from thzsync.testing.floors import RandomPolicy

POLICIES = ("all-wireless", "fixed-ratio", "thz-sync", "all-wireless-best", "ddqn")


def try_radio(rng: np.random.Generator) -> str:
    """Build, simulate one iteration, and audit."""
    scenario = Scenario.preset("tiny").with_(_changes(rng))
    assert parse_scenario(scenario.to_toml(), "dump") == scenario
    try:
        check_scenario(scenario)
    except ThzSyncError:
        return "refused"
    seed = int(rng.integers(100))
    policy = RandomPolicy(seed) if rng.random() < 0.7 else str(rng.choice(POLICIES))
    run = simulate(scenario, policy, 1, seed, references={})
    verdict = audit(run)
    assert verdict.ok, (policy, scenario.to_toml(), verdict.violations[:3])
    return "simulated"


def _changes(rng: np.random.Generator) -> dict[str, Any]:
    """Changes of the preset `tiny`."""
    methods = {kind: _one(rng, *method_names(kind)) for kind in ("p2p", "a2a", "allreduce")}
    return {
        "thz.rate": _rate(rng),
        "thz.antenna": _antenna(rng),
        "thz.interference": _one(rng, "constant", "beams"),
        "thz.interference_headroom_db": float(rng.choice((0.1, 1.0, 3.0))),
        "thz.band_start_hz": float(rng.choice((290e9, 290e9, 290e9, 200e9))),
        "thz.receive_gain_db": float(rng.uniform(0, 40)),
        "thz.transmit_gain_db": float(rng.choice((0.0, 25.0, rng.uniform(-5, 40)))),
        "thz.noise_figure_db": float(rng.uniform(0, 30)),
        "thz.max_power_w": float(10 ** rng.uniform(-4, 0)),
        "thz.subbands": int(rng.integers(1, 5)),
        "thz.rf_chains": int(rng.integers(1, 5)) if rng.random() < 0.3 else None,
        "thz.sharing": _one(rng, "rack", "event"),
        "thz.order": _one(rng, "age", "urgency"),
        "thz.radiation": _one(rng, "needed", "budget"),
        "thz.round_overhead_s": float(rng.choice((0.0, 3e-5))),
        "thz.fallback_timeout_s": float(rng.choice((0.0, 1e-3, 0.2))),
        "channel.path_loss": _path_loss(rng),
        "channel.absorption": _one(rng, "none", "itu-r-p676"),
        "channel.fluctuation_db": float(rng.choice((0.0, 3.0, 8.0))),
        "channel.blockage.share": float(rng.choice((0.0, 0.2))),
        "channel.blockage.loss_db": rng.choice(np.array(["mesh-door", "cables", 15.0], object)),
        "jobs.train.training.microbatches": 1,
        "energy": _energy(rng),
        "reward.energy": _one(rng, "transmission", "wall-plug", "with-static"),
        "optical.fidelity": _one(rng, "packet", "packet", "flow"),
        **{f"collectives.{kind}": method for kind, method in methods.items()},
    }


def _one(rng: np.random.Generator, *values: str) -> str:
    return str(rng.choice(values))


def _rate(rng: np.random.Generator) -> dict[str, Any]:
    law: dict[str, Any] = {"kind": _one(rng, "shannon", "802.15.3d")}
    if rng.random() < 0.6:
        law["sndr_db"] = float(rng.uniform(0, 30))
    if law["kind"] == "802.15.3d":
        law["implementation_margin_db"] = float(rng.uniform(0, 6))
        law["error_rate"] = float(rng.choice((0.0, 0.1, 0.5)))
        law["error_decade_db"] = float(rng.uniform(0.1, 3))
    return law


def _antenna(rng: np.random.Generator) -> dict[str, Any]:
    antenna: dict[str, Any] = {"kind": _one(rng, "isotropic", "gaussian", "f699", "table")}
    if antenna["kind"] == "gaussian":
        antenna["side_lobe_db"] = float(rng.uniform(0, 60))
    if antenna["kind"] == "table":
        antenna["points"] = [[0.0, 0.0], [float(rng.uniform(1, 30)), 10.0], [90.0, 30.0]]
    antenna["pointing_error_deg"] = float(rng.choice((0.0, rng.uniform(0, 10))))
    antenna["scan_angle_deg"] = float(rng.choice((0.0, rng.uniform(0, 80))))
    antenna["steering_s"] = float(rng.choice((0.0, 1e-5)))
    return antenna


def _path_loss(rng: np.random.Generator) -> dict[str, Any]:
    law: dict[str, Any] = {"kind": _one(rng, "measured", "free-space", "log-distance")}
    if law["kind"] == "log-distance":
        law |= {
            "intercept_db": float(rng.uniform(60, 110)),
            "exponent": float(rng.uniform(0, 5)),
        }
    return law


def _energy(rng: np.random.Generator) -> dict[str, Any]:
    def some(low: float, high: float) -> float:
        return float(10 ** rng.uniform(low, high)) if rng.random() < 0.7 else 0.0

    return {
        "thz": {
            "front_end_w": some(-2, 1),
            "amplifier_efficiency": float(10 ** rng.uniform(-3, 0)),
            "baseband_j_per_bit": some(-13, -9),
            "idle_w": some(-2, 1),
            "sleep_share": float(rng.random()),
        },
        "fibre": {
            "switch_j_per_bit": some(-13, -9),
            "idle_w_per_port": some(-1, 2),
            "idle_w_per_switch": some(0, 3),
            "sleep_share": float(rng.random()),
            **({"link_j_per_bit": some(-13, -9)} if rng.random() < 0.7 else {}),
        },
        "racks": {"idle_w": some(2, 4)},
    }
