"""Runs in flow fidelity under the auditor: chunks wait for whole runs of chunks, and no longer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from thzsync.auditor import audit
from thzsync.auditor.causality import chunk_precedence, ready_time
from thzsync.auditor.faults import fallback, silence
from thzsync.auditor.flows import grid
from thzsync.coordinator.interface import Action, Outcome, Policy, Situation
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.synthesis import method_names
from thzsync.transfers import coarsening

LONG = Scenario.preset("tiny").with_(
    {
        "floor.slots_per_ring": 6,
        "optical.fidelity": "flow",
        "optical.trains_per_flow": 32,
        "stragglers.probability": 0.3,
        "jobs.0.training.allreduce_bytes": 128 * 2**20,
        "jobs.0.training.p2p_bytes": 48 * 2**20,
    }
)
"""Flows long enough for runs of chunks."""


class Patchy:
    """Few units on THz, with any number of chunks: most of what they wait for comes by fibre."""

    name = "patchy"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def decide(self, situation: Situation) -> Action:
        offer = situation.offer
        some = self._rng.random(offer.units) < 0.2
        counts = np.where(some, self._rng.integers(0, offer.chunks, endpoint=True), 0)
        return Action.of(offer, counts, np.full(len(offer.racks), situation.power_levels[-1]))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        pass


@cache
def patchy_run(faults: tuple[Any, ...] = (), timeout_s: float = 0.2) -> Run:
    values = LONG.model_dump(mode="json", exclude_none=True)
    values |= {
        "faults": [dict(fault) for fault in faults],
        "thz": values["thz"] | {"fallback_timeout_s": timeout_s},
    }
    return simulate(Scenario.model_validate(values), Patchy(1), 2, 1, references={})


@pytest.mark.filterwarnings("ignore::thzsync.records.certificate.BeyondToleranceWarning")
@pytest.mark.parametrize("policy", ["fixed-ratio", "thz-sync", "patchy"])
@pytest.mark.parametrize("method", method_names("allreduce"))
def test_runs_of_chunks_that_change_fabrics_are_sound(method: str, policy: str) -> None:
    deciding: Policy | str = Patchy(1) if policy == "patchy" else policy
    run = simulate(LONG.with_({"collectives.allreduce": method}), deciding, 2, 1, references={})
    verdict = audit(run)
    assert verdict.violations == []
    assert verdict.checks["fidelity"]


@pytest.mark.parametrize(("timeout_s", "check"), [(0.2, silence), (0.001, fallback)])
def test_an_outage_is_no_less_conspicuous_in_flow_fidelity(timeout_s: float, check: Any) -> None:
    outage = {"kind": "transceiver-down", "rack": 1, "start_s": 0.0, "end_s": 0.1}
    run = patchy_run((tuple(outage.items()),), timeout_s)
    honest = audit(run)
    assert honest.violations == []
    assert honest.checks[check.__name__]
    unnamed = replace(run, scenario=run.scenario.model_copy(update={"faults": ()}))
    assert not audit(unnamed, [check]).ok


def said_ready(run: Run, ready_ps: pl.Expr) -> Run:
    """THz chunks with other times of being ready."""
    ready = pl.when(pl.col("carrier") == 1).then(ready_ps).otherwise(pl.col("ready_ps"))
    chunks = run.tables["chunks"].with_columns(ready_ps=ready)
    return replace(run, tables=run.tables | {"chunks": chunks})


def test_nobody_excuses_a_silence_by_chunks_that_were_ready_later() -> None:
    departed = pl.col("ready_ps").max().over("number", "flow", "end_ps")
    assert audit(said_ready(patchy_run(), departed), [ready_time]).broken
    assert audit(said_ready(patchy_run(), pl.col("ready_ps") + 1), [ready_time]).broken


def test_no_chunk_is_ready_before_the_run_that_it_waits_for_is_there() -> None:
    run = patchy_run()
    assert audit(said_ready(run, pl.col("ready_ps") - 1), [chunk_precedence]).broken
    arrived = run.flows.select("number", "flow", pl.col("after")).explode("after").drop_nulls()
    before = run.tables["chunks"].select("number", "chunk", after="flow", came_ps="end_ps")
    singly = (
        arrived.join(before, on=["number", "after"])
        .group_by("number", "flow", "chunk")
        .agg(pl.col("came_ps").max())
    )
    chunks = run.tables["chunks"].join(singly, on=["number", "flow", "chunk"], how="left")
    earlier = chunks.filter((pl.col("carrier") == 1) & (pl.col("came_ps") < pl.col("ready_ps")))
    assert earlier.height, "single chunks of THz wait for runs on fibre"


@pytest.mark.parametrize("pieces", [8, 32, 128, 1000])
@pytest.mark.parametrize("most", [1, 16, 1000])
def test_the_auditor_and_the_simulator_have_the_same_runs(pieces: int, most: int) -> None:
    for chunks in (1, pieces, pieces + 1, 611, 5000, 10**5):
        assert grid(chunks, pieces, most).tolist() == coarsening.grid(chunks, pieces, most).tolist()
