"""The weights' figure takes over what another figure has simulated, and nothing else."""

from __future__ import annotations

import pytest

from thzsync.experiments.compare import Comparison, compare, compare_settings
from thzsync.paper import weights
from thzsync.paper.figure import Request
from thzsync.paper.weights import reproduce
from thzsync.scenario import Scenario

SETTING = Scenario.preset("tiny")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many settings were simulated, call by call."""
    counts: list[int] = []

    def counted(settings: list[object], *rest: object, **named: object) -> list[Comparison]:
        counts.append(len(settings))
        return compare_settings(settings, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(weights, "compare_settings", counted)
    return counts


def test_known_runs_are_taken_over_and_change_nothing(asked: list[int]) -> None:
    known = compare(SETTING, ("all-wired", "thz-sync"), 2, 2, workers=1)
    afresh = reproduce(Request(SETTING, 2, 2, 1))
    taken_over = reproduce(Request(SETTING, 2, 2, 1, known=known))
    assert asked == [3, 2]
    assert taken_over.rows() == afresh.rows()
    assert taken_over.comparisons[0.7, 0.3].policies == ("thz-sync",)


@pytest.mark.parametrize(("seeds", "iterations"), [(1, 2), (2, 1)])
def test_runs_of_other_seeds_or_iterations_are_made_anew(
    asked: list[int], seeds: int, iterations: int
) -> None:
    known = compare(SETTING, ("thz-sync",), 2, 2, workers=1)
    reproduce(Request(SETTING, seeds, iterations, 1, known=known))
    assert asked == [3]
