"""Transceivers shared by all events of a rack, or by each event alone as the paper writes it."""

from __future__ import annotations

import pytest

from thzsync import audit
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate

REFERENCES = {"p2p": (1.0, 1.0), "a2a": (1.0, 1.0), "allreduce": (1.0, 1.0)}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """All-Wireless, where events meet most."""
    tiny = Scenario.preset("tiny")
    return {
        sharing: simulate(
            tiny.with_({"thz.sharing": sharing}), "all-wireless", 1, references=REFERENCES
        )
        for sharing in ("rack", "event")
    }


def test_events_that_do_not_share_are_never_slower(runs: dict[str, Run]) -> None:
    together, alone = (runs[s].iterations["completion_ms"][0] for s in ("rack", "event"))
    assert alone <= together


def test_whole_budgets_cost_energy_and_no_time() -> None:
    tiny = Scenario.preset("tiny").with_({"thz.sharing": "event"})
    least, most = (
        simulate(tiny.with_({"thz.radiation": way}), "all-wireless", 1, references=REFERENCES)
        for way in ("needed", "budget")
    )
    assert most.events["completion_ms"].equals(least.events["completion_ms"])
    assert most.iterations["energy_j"][0] > 1.05 * least.iterations["energy_j"][0]
    assert not audit(most).violations


def test_each_is_audited_as_declared(runs: dict[str, Run]) -> None:
    assert all(not audit(run).violations for run in runs.values())
