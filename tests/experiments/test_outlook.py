"""What many runs take follows from what one takes."""

from __future__ import annotations

import pytest

from thzsync.experiments.outlook import comparison_effort, run_effort
from thzsync.scenario import Scenario

TINY = Scenario.preset("tiny")
POLICIES = ("all-wired", "thz-sync")


def test_references_are_paid_once_per_seed_and_runs_once_each() -> None:
    one, two = (run_effort(TINY, policy, 20) for policy in POLICIES)
    assert two.seconds > one.seconds  # it learns
    assert one.references_s == two.references_s
    longer = run_effort(TINY, POLICIES[0], 23)
    assert one.references_s == pytest.approx(longer.seconds - one.seconds)  # three iterations
    together = comparison_effort(TINY, POLICIES, 5, 20, workers=1)
    own_s = one.seconds + two.seconds - 2 * one.references_s
    assert together.seconds == pytest.approx(5 * (one.references_s + own_s))
    assert together.memory_bytes == max(one.memory_bytes, two.memory_bytes)


def test_workers_share_the_time_and_each_takes_its_memory_but_none_idles() -> None:
    one, two, many = (comparison_effort(TINY, POLICIES, 2, 20, workers) for workers in (1, 2, 99))
    assert two.seconds == pytest.approx(one.seconds / 2)
    assert two.memory_bytes == 2 * one.memory_bytes
    assert many.seconds == pytest.approx(one.seconds / 4)
    assert many.memory_bytes == 4 * one.memory_bytes
