"""Runs in which beams disturb each other: promises are kept, nothing hangs, and all is audited."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from thzsync import Scenario, Session, audit, simulate
from thzsync.coordinator import Action
from thzsync.records.run import Run
from thzsync.synthesis import method_names

FLOORS: tuple[dict[str, Any], ...] = (
    {"rings": 2, "slots_per_ring": 3},
    {"rings": 2, "slots_per_ring": 4, "inner_radius_m": 1.0},
    {"rings": 4, "slots_per_ring": 8, "racks_per_ring": 2},  # radial lanes
    {"kind": "grid", "rows": 2, "columns": 4},
    {"kind": "rows", "rows": 2, "racks_per_row": 5},
)
ANTENNAS: tuple[Any, ...] = (
    "isotropic", "gaussian", "f699", {"kind": "gaussian", "side_lobe_db": 60},
    {"kind": "f699", "pointing_error_deg": 4, "scan_angle_deg": 30, "steering_s": 1e-5},
)  # fmt: skip
RATES = [
    {"kind": kind, **more} for kind in ("shannon", "802.15.3d") for more in ({}, {"sndr_db": 18})
]
POLICIES = ("all-wireless", "all-wireless-best", "fixed-ratio")


def random_case(seed: int) -> tuple[Scenario, str]:
    """A tiny floor with some radio and some methods, and a policy."""
    generator = np.random.default_rng(seed)

    def pick(values: Any) -> Any:
        return values[int(generator.integers(len(values)))]

    methods = {kind: pick(list(method_names(kind))) for kind in ("a2a", "allreduce", "p2p")}
    gain_dbi = pick([0, 10, 25, 35])
    subbands = pick([1, 2, 4])
    changes: dict[str, Any] = {
        "floor": pick(FLOORS),
        "thz.interference": "beams",
        "thz.interference_headroom_db": pick([0.0, 0.2, 1.0, 3.0]),
        "thz.antenna": pick(ANTENNAS),
        "thz.transmit_gain_db": gain_dbi,
        "thz.receive_gain_db": pick([0, 25]) if gain_dbi else 25,
        "thz.subbands": subbands,
        "thz.rf_chains": pick([None, 1, subbands]),
        "thz.rate": pick(RATES),
        "thz.sharing": pick(["rack", "rack", "event"]),
        "thz.order": pick(["age", "urgency"]),
        "thz.radiation": pick(["needed", "needed", "budget"]),
        "thz.round_overhead_s": pick([0.0, 3e-5]),
        "channel.coherence_s": pick([None, 5e-3]),
        **{f"collectives.{kind}": name for kind, name in methods.items()},
    }
    return Scenario.of("tiny").with_(changes), pick(POLICIES)


def check(seed: int) -> int:
    """Run and audit a random case; its transmissions."""
    scenario, policy = random_case(seed)
    run = simulate(scenario, policy=policy, iterations=1, seed=seed)
    verdict = audit(run)
    assert verdict.ok, (seed, policy, verdict.violations[:3])
    sent = run.tables["transmissions"]
    assert verdict.checks["interference"] == 2 * sent.height
    return sent.height


@pytest.mark.parametrize("seed", range(12))
def test_random_floors_are_audited_clean(seed: int) -> None:
    assert check(seed) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 312))
def test_many_more_random_floors(seed: int) -> None:
    assert check(seed) > 0


def run_of(**changes: Any) -> Run:
    told = {"thz.interference": "beams", "thz.antenna": "gaussian", "thz.transmit_gain_db": 25}
    scenario = Scenario.of("tiny").with_(told | changes)
    return simulate(scenario, policy="all-wireless", iterations=1, seed=2)


def test_a_promise_is_the_noise_times_the_headroom_while_nobody_else_sends() -> None:
    run = run_of(**{"thz.interference_headroom_db": 2.0})
    sent, noise_w = run.tables["transmissions"], run.scenario.thz.noise_w
    first = sent.filter(pl.col("start_ps") == sent["start_ps"].min())
    assert first["noise_w"].to_list() == pytest.approx([noise_w * 10**0.2] * first.height)
    assert sent["noise_w"].min() == pytest.approx(noise_w * 10**0.2)


def test_no_coupling_leaves_only_the_headroom() -> None:
    """Without headroom, and with beams that others cannot hear, a run is as without interference.

    Of two racks only one can send at a time on a subband, and a rack does not hear itself.
    """
    floor = {"rings": 1, "slots_per_ring": 2}
    plain = {"floor": floor, "jobs": [{"training": {"moe_stages": []}}]}
    coupled = {"thz.interference": "beams", "thz.interference_headroom_db": 0.0}
    runs = [
        simulate(Scenario.of("tiny").with_(plain | more), policy="all-wireless", seed=4)
        for more in ({}, coupled)
    ]
    tables = [run.tables["transmissions"] for run in runs]
    assert tables[0].height > 0
    assert tables[0].equals(tables[1])


def test_constant_noise_is_recorded() -> None:
    sent = run_of(**{"thz.interference": "constant"}).tables["transmissions"]
    assert set(sent["noise_w"]) == {Scenario.of("tiny").thz.noise_w}


def test_forks_do_not_disturb_the_original() -> None:
    """They share couplings with the original, but no beams."""
    scenario, tables = run_of().scenario, []
    for forks in (False, True):
        session = Session(scenario, seed=3)
        for situation in session:
            twins = [session.fork()] if forks and situation.decision % 3 == 0 else []
            session.send(Action.uniform(situation.offer, 1.0, 0.5))
            for twin in twins:
                twin.send(Action.uniform(situation.offer, 1.0, 1.0))
                for other in twin:
                    twin.send(Action.uniform(other.offer, 0.5, 1.0))
        tables.append(session.record("mine").tables["transmissions"])
    assert tables[0].equals(tables[1])
