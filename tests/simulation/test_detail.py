"""Runs that keep only what a comparison needs."""

from __future__ import annotations

import pytest
from polars.testing import assert_frame_equal

from thzsync.records import SUMMARY, TABLES
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.simulation import simulate
from thzsync.simulation.rows import span_ps

TINY = Scenario.preset("tiny")
FLOWS = changed(TINY, {"optical.fidelity": "flow"}, "test")


@pytest.mark.parametrize("scenario", [TINY, FLOWS], ids=["packets", "flows"])
@pytest.mark.parametrize("policy", ["fixed-ratio", "thz-sync"])
def test_what_is_not_kept_changes_nothing_that_is(scenario: Scenario, policy: str) -> None:
    whole = simulate(scenario, policy, 2, seed=4)
    short = simulate(scenario, policy, 2, seed=4, detailed=False)
    assert short.references == whole.references
    for table in TABLES:
        if table in SUMMARY:
            assert_frame_equal(short.tables[table], whole.tables[table])
        else:
            assert short.tables[table].height == 0


def test_many_fibres_are_sampled_less_often() -> None:
    assert [span_ps(links) // 10**9 for links in (1, 4096, 4097, 12_224)] == [20, 20, 40, 60]
