"""Policies side by side: a failed run leaves its seed out, and the picture shows all policies."""

from __future__ import annotations

import pytest

from thzsync.errors import ThzSyncError
from thzsync.experiments import compare as module
from thzsync.experiments.compare import compare
from thzsync.scenario import Scenario

TINY = Scenario.preset("tiny")
POLICIES = ("all-wired", "fixed-ratio")


def test_a_run_that_fails_takes_its_seed_out_of_all_policies_and_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "simulate", _fails_in_seed_1)
    found = compare(TINY, POLICIES, seeds=3, iterations=1, workers=1)
    assert found.seeds == (0, 2)
    assert found.failures == ({"policy": "fixed-ratio", "seed": 1, "error": "RuntimeError: no"},)
    assert found.document()["failures"] == list(found.failures)
    assert found.iterations["seed"].unique().sort().to_list() == [0, 2]


def _fails_in_seed_1(scenario, policy, iterations, seed, references):  # type: ignore[no-untyped-def]
    from thzsync.simulation import simulate

    if (policy, seed) == ("fixed-ratio", 1):
        raise RuntimeError("no")
    return simulate(scenario, policy, iterations, seed, references)


def test_when_no_seed_is_left_the_first_error_is_told() -> None:
    broken = TINY.with_(channel__gains_file="nowhere.csv")
    with pytest.raises(ThzSyncError, match=r"nowhere\.csv"):
        compare(broken, POLICIES, seeds=2, iterations=1, workers=1)


def test_the_picture_has_a_line_and_a_band_per_policy() -> None:
    found = compare(TINY, POLICIES, seeds=2, iterations=2, workers=1)
    (axes,) = found.plot("energy_j").axes
    assert [line.get_label() for line in axes.get_lines()] == list(POLICIES)
    assert axes.get_ylabel() == "Energy [J]"
    with pytest.raises(ThzSyncError, match="metric: found 'speed'; use one of"):
        found.plot("speed")
