"""A verdict respects its evidence: one seed decides nothing, nor does an interval around zero."""

from __future__ import annotations

import json
from math import nan

import numpy as np
import polars as pl
import pytest

from thzsync.experiments.comparison import METRICS, Comparison
from thzsync.experiments.statistics import interval95, verdict
from thzsync.files import dump_json
from thzsync.paper import tables
from thzsync.paper.fabric import FabricFigure
from thzsync.paper.oracle import Oracle
from thzsync.scenario import Scenario

Values = dict[str, list[float]]
FAST = [10.0, 11.0, 12.0]
BETWEEN = "energy between all-wireless and all-wired"


def figure(completion_ms: Values, energy_j: Values | None = None) -> FabricFigure:
    """A figure whose policies did this in each seed; their rewards are all alike."""
    rows = [
        {
            **dict.fromkeys(METRICS, -1.0),
            "policy": policy,
            "seed": seed,
            "iteration": 0,
            "completion_ms": value,
            "energy_j": (energy_j or completion_ms)[policy][seed],
        }
        for policy, values in completion_ms.items()
        for seed, value in enumerate(values)
    ]
    seeds = tuple(range(len(next(iter(completion_ms.values())))))
    frame = pl.DataFrame(rows)
    runs = Comparison(Scenario.preset("tiny"), tuple(completion_ms), seeds, frame, frame, {})
    return FabricFigure(runs, Oracle({}, -0.5, 1.0, 1.0), first=0)


def test_a_verdict_needs_an_interval_on_one_side_of_zero() -> None:
    assert verdict(2.0, 1.0) is True
    assert verdict(-2.0, 1.0) is False
    assert verdict(0.5, 1.0) is None
    assert verdict(2.0, nan) is None


def test_one_seed_decides_nothing() -> None:
    one = figure({"thz-sync": [1.0], "all-wired": [9.0], "all-wireless": [0.5]})
    assert {holds for _, holds in one.claims()} == {None}


@pytest.mark.parametrize(
    ("rival", "holds"),
    [
        ([20.0, 21.5, 22.0], True),
        ([5.0, 6.5, 7.0], False),
        ([9.0, 12.0, 12.5], None),
    ],
)
def test_faster_is_claimed_by_paired_differences(rival: list[float], holds: bool | None) -> None:
    claims = dict(figure({"thz-sync": FAST, "fixed-ratio": rival}).claims())
    assert claims["faster than fixed-ratio"] is holds
    assert claims["higher reward than fixed-ratio"] is None


@pytest.mark.parametrize(
    ("wireless", "wired", "holds"),
    [
        ([1.0, 1.1, 1.2], [30.0, 31.0, 33.0], True),
        ([1.0, 1.1, 1.2], [3.0, 4.0, 4.5], False),
        ([1.0, 1.1, 1.2], [9.0, 12.0, 12.5], None),
        ([30.0, 31.0, 33.0], [9.0, 12.0, 12.5], False),
    ],
)
def test_energy_lies_between_if_both_differences_say_so(
    wireless: list[float], wired: list[float], holds: bool | None
) -> None:
    values = {"thz-sync": FAST, "all-wired": wired, "all-wireless": wireless}
    assert dict(figure(values).claims())[BETWEEN] is holds


def test_undecided_is_null_in_json_and_a_word_in_print() -> None:
    close = figure({"thz-sync": FAST, "fixed-ratio": [9.0, 12.0, 12.5]})
    written = json.loads(dump_json(close.document()))
    assert written["claims"]["faster than fixed-ratio"] is None
    words = {tables.claims(close.claims(), seeds).rows[0][1] for seeds in (1, 3)}
    assert len(words) == 2


def test_the_interval_of_one_value_is_unknown() -> None:
    assert np.isnan(interval95(np.array([1.0]))[1])
