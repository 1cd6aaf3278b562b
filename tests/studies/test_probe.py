"""What a sweep would take is told in seconds, however long the sweep is."""

from __future__ import annotations

import pytest

from tests.studies.sweeps import SMALL
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.studies import probe
from thzsync.studies.probe import Estimate, estimate, reckoned
from thzsync.studies.sweeping import plan_sweep
from thzsync.workers import Answer, Call


def refuse(call: Call) -> Answer:
    raise AssertionError(call.function)


def test_probes_that_would_take_long_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "carry_out", refuse)
    axes = {"thz.subbands": [2, 4]}
    plan = plan_sweep(Scenario.preset("pod-1024"), SMALL | {"axes": axes})
    cost = estimate(plan.runs)
    assert (cost.runs, cost.realisations) == (8, 4)
    assert cost.cpu_s > probe.MOST_PROBING_S
    assert cost == reckoned(plan.runs)


def test_short_probes_are_timed_and_the_same_runs_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = plan_sweep("tiny", SMALL).runs
    timed, told = estimate(runs), reckoned(runs)
    assert timed.cpu_s > 0
    assert (timed.runs, timed.realisations) == (told.runs, told.realisations) == (8, 4)
    assert 0.5 < told.disk_bytes / timed.disk_bytes < 2
    monkeypatch.setattr(probe, "carry_out", lambda call: Answer(error="no memory"))
    with pytest.raises(ThzSyncError, match="a probe failed: no memory"):
        estimate(runs)


def test_what_is_known_or_done_costs_nothing() -> None:
    runs = plan_sweep("tiny", SMALL).runs
    known = [run.realisation.reference_key for run in runs]
    assert reckoned(runs, known).realisations == 0
    assert reckoned(runs, known).cpu_s < reckoned(runs).cpu_s
    assert estimate([]) == reckoned([]) == Estimate(0, 0, 0.0, 0, 0.0)


def test_what_would_be_in_flows_is_asked_of_every_scenario() -> None:
    plan = plan_sweep(Scenario.preset("pod-1024"), SMALL | {"axes": {"thz.subbands": [2, 4]}})
    assert reckoned(plan.runs, (), {"optical.fidelity": "flow"}).cpu_s < reckoned(plan.runs).cpu_s
