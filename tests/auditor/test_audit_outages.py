"""An outage that the scenario does not name gives itself away, and one that it names explains."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from thzsync.auditor import audit
from thzsync.auditor.faults import _Air, fallback, silence
from thzsync.auditor.policy import learner
from thzsync.coordinator.bandit import collective_bandits
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.streams import Streams

OUTAGES: dict[str, dict[str, Any]] = {
    "transceiver": {"kind": "transceiver-down", "rack": 1},
    "pair": {"kind": "pair-blocked", "racks": [1, 4]},
    "subbands": {"kind": "subband-jammed", "subband": 0},
}


def faulty_run(fault: dict[str, Any], timeout_s: float) -> Run:
    values = Scenario.preset("tiny").model_dump(mode="json", exclude_none=True)
    faults = [fault | {"start_s": 0.0, "end_s": 0.03}]
    if fault["kind"] == "subband-jammed":
        faults = [faults[0] | {"subband": k} for k in range(4)]
    values |= {"faults": faults, "thz": values["thz"] | {"fallback_timeout_s": timeout_s}}
    return simulate(Scenario.model_validate(values), "fixed-ratio", 1, 0, references={})


def without_faults(run: Run) -> Run:
    return replace(run, scenario=run.scenario.model_copy(update={"faults": ()}))


@pytest.mark.parametrize("fault", OUTAGES.values(), ids=OUTAGES)
@pytest.mark.parametrize(("timeout_s", "check"), [(0.2, silence), (0.001, fallback)])
def test_waiting_and_falling_back_need_a_reason(
    fault: dict[str, Any], timeout_s: float, check: Any
) -> None:
    run = faulty_run(fault, timeout_s)
    honest = audit(run, [check])
    assert honest.ok
    assert honest.facts
    assert not audit(without_faults(run), [check]).ok


def test_a_wait_is_judged_within_its_own_span() -> None:
    """What these racks sent before the wait says nothing about it, though others send on."""
    column = partial(np.array, dtype=np.int64)
    sent = SimpleNamespace(
        src=column([2, 0]), dst=column([3, 1]), taken_ps=column([0, 10]), end_ps=column([100, 20])
    )
    flows = SimpleNamespace(src=column([0]), dst=column([1]))
    record: Any = SimpleNamespace(
        transmissions=sent,
        flows=flows,
        scenario=Scenario.preset("tiny"),
        channel=SimpleNamespace(next_change_ps=lambda _: 10**9),
    )
    air = _Air(record)
    assert list(air.idle(column([0]), 50, 90)) == [50]


def test_fibre_waits_for_its_timeout() -> None:
    run = faulty_run(OUTAGES["transceiver"], 0.001)
    patient = run.scenario.thz.model_copy(update={"fallback_timeout_s": 0.025})
    told = replace(run, scenario=run.scenario.model_copy(update={"thz": patient}))
    assert not audit(told, [fallback]).ok


def test_a_taught_learner_need_not_begin_anew() -> None:
    scenario = Scenario.preset("tiny")
    policy = collective_bandits(scenario, Streams(0))
    fresh = simulate(scenario, policy, 1, 0, references={})
    taught = simulate(scenario, policy, 1, 0, references={})
    assert (fresh.learning, taught.learning) == ("fresh", "taught")
    assert audit(taught, [learner]).ok
    assert not audit(replace(taught, learning="fresh"), [learner]).ok


def test_knowledge_must_fit_the_policy() -> None:
    run = simulate(Scenario.preset("tiny"), "all-wired", 1, 0, references={})
    assert run.learning == "none"
    assert audit(run, [learner]).ok
    assert not audit(replace(run, learning="taught"), [learner]).ok
    assert not audit(replace(run, learning="", declared={}), [learner]).ok, "it must be told"
