"""Runs under other rate laws than Shannon's: audited clean, and forgeries are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.simulation.traces import event, traced
from tests.wireless.worlds import everyone_to_everyone
from thzsync.auditor import audit
from thzsync.channel import law_of, link_budget_per_w
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.synthesis import FlowMethod, register_method
from thzsync.synthesis.exchanges import FreeTransfers
from thzsync.wireless.disciplines import BUILT_IN

MODES = {"kind": "802.15.3d", "sndr_db": 18}
LAWS = {
    "modes": MODES,
    "errors": MODES | {"error_rate": 0.2},
    "ceiling": {"kind": "shannon", "sndr_db": 18},
}
RACKS = 6
col = pl.col


@cache
def tiny(law: str, fidelity: str = "packet", policy: str = "all-wireless") -> Run:
    changes = {"thz.rate": LAWS[law], "optical.fidelity": fidelity}
    if policy == "model-based":
        changes, policy = changes | {"coordinator.search": policy}, "thz-sync"
    return simulate(Scenario.of("tiny").with_(changes), policy, iterations=1, seed=5)


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
@pytest.mark.parametrize("policy", ["all-wireless", "thz-sync", "model-based"])
@pytest.mark.parametrize("law", LAWS)
def test_runs_are_audited_clean_in_both_fidelities(law: str, policy: str, fidelity: str) -> None:
    run = tiny(law, fidelity, policy)
    assert audit(run).violations == []


@pytest.mark.usefixtures("nothing_stays_registered")
@pytest.mark.parametrize("radiation", ["needed", "budget"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("discipline", [discipline.name for discipline in BUILT_IN])
def test_every_discipline_is_audited_clean(
    tmp_path: Path, discipline: str, law: str, radiation: str
) -> None:
    register_method(FlowMethod("a2a", f"by {discipline}", FreeTransfers("a2a"), discipline))
    scenario = traced(
        tmp_path,
        [
            event(0, "a2a", everyone_to_everyone(RACKS, 900_000), range(RACKS)),
            event(1, "a2a", everyone_to_everyone(RACKS, 700_000), range(RACKS)),
        ],
        thz={"rate": LAWS[law], "radiation": radiation, "round_overhead_s": 1e-5},
        channel={"fluctuation_db": 6.0, "coherence_s": 1e-3},
        collectives={"a2a": f"by {discipline}", "chunk_bytes": 100_000},
    )
    run = simulate(scenario, "all-wireless", 1, references={})
    assert audit(run).violations == []
    sent = run.tables["transmissions"]
    assert sent.height > 0
    if law != "ceiling":
        # streamed and sustained links, and rounds of least power, radiate what a step needs
        snr = snr_of(run)
        steps = law_of(scenario.thz).step_snr
        above = snr / steps[np.searchsorted(steps * (1 - 1e-12), snr, side="right") - 1]
        if radiation == "needed" and not discipline.endswith("equal"):
            assert above.max() == pytest.approx(1.0, rel=1e-9)
        assert above.min() > 1 - 1e-9


def snr_of(run: Run) -> np.ndarray:
    sent, thz = run.tables["transmissions"], run.scenario.thz
    per_w = link_budget_per_w(thz)[sent["subband"].to_numpy()]
    return sent["power_w"].to_numpy() * sent["gain"].to_numpy() * per_w


def test_records_name_the_step_and_what_is_sent_again() -> None:
    sent = tiny("errors").tables["transmissions"]
    scenario = tiny("errors").scenario
    steps = {(s.name, s.error_rate): s for s in scenario.thz.rate.steps()}
    for name, error, size, start, end in sent.select(
        "step", "error_rate", "bytes", "start_ps", "end_ps"
    ).iter_rows():
        rate_bps = steps[name, error].efficiency * scenario.thz.subband_hz
        assert 8 * size <= rate_bps * (end - start) * 1e-12 * (1 + 1e-9)
    assert set(tiny("ceiling").tables["transmissions"]["step"]) == {""}


def forged(run: Run, **columns: pl.Expr) -> Run:
    sent = run.tables["transmissions"].with_columns(**columns)
    return replace(run, tables=run.tables | {"transmissions": sent})


FORGERIES: dict[str, Callable[[Run], Run]] = {
    "steps": lambda run: forged(run, step=pl.lit("64-QAM 14/15")),
    "steps ": lambda run: forged(run, error_rate=col("error_rate") + 0.01),
    "power_needed": lambda run: forged(run, power_w=col("power_w") * 1.001),
    "rate": lambda run: forged(run, power_w=col("power_w") * 0.999),
}


@pytest.mark.parametrize("check", FORGERIES)
def test_a_forged_step_or_power_is_found(check: str) -> None:
    run = tiny("modes")
    assert check.strip() in audit(FORGERIES[check](run)).broken


def test_a_rate_law_that_was_not_used_is_found() -> None:
    run = tiny("modes")
    better = run.scenario.with_({"thz.rate.implementation_margin_db": 1.0})
    assert "power_needed" in audit(replace(run, scenario=better)).broken
    worse = run.scenario.with_({"thz.rate.implementation_margin_db": 3.0})
    assert {"steps", "rate"} <= set(audit(replace(run, scenario=worse)).broken)
