"""Regret counts from the first iteration on, and is paired by seed."""

from __future__ import annotations

import polars as pl
import pytest

from thzsync.experiments.comparison import Comparison
from thzsync.paper.fabric import QUICKER, QUICKER_KEYS, regret_rows
from thzsync.paper.oracle import Oracle
from thzsync.paper.tables import regrets
from thzsync.scenario import Scenario


def runs(rewards: dict[int, list[float]]) -> Comparison:
    """A run per seed whose time is a thousand times what its reward costs."""
    rows = [
        {"policy": "thz-sync", "seed": seed, "iteration": k, "reward": r, "completion_ms": -1e3 * r}
        for seed, course in rewards.items()
        for k, r in enumerate(course)
    ]
    nothing = pl.DataFrame()
    tiny = Scenario.preset("tiny")
    return Comparison(tiny, ("thz-sync",), tuple(rewards), pl.DataFrame(rows), nothing, {})


ORACLE = Oracle({}, -0.5, 500.0, 1.0, whole=(-0.5, -0.4))
SLOW = runs({0: [-1.0] + [-0.5] * 9, 1: [-0.9] + [-0.4] * 9})
QUICK = runs({0: [-0.5] * 10, 1: [-0.4] * 10})


def test_regret_is_over_all_iterations_and_relative_to_the_oracle() -> None:
    slow, quick = regret_rows(SLOW, QUICK, ORACLE)
    assert slow["regret_pct"] == pytest.approx((10 + 12.5) / 2)
    assert slow["first_above_final_pct"] == pytest.approx((100 + 125) / 2)
    assert (quick["policy"], quick["regret_pct"]) == (QUICKER, pytest.approx(0.0))
    assert quick["ci95_regret_pct"] == pytest.approx(0.0)


def test_without_an_oracle_of_the_same_seeds_there_is_no_regret() -> None:
    assert regret_rows(SLOW, QUICK, Oracle({}, -0.5, 500.0, 1.0)) == []
    (alone,) = regret_rows(SLOW, runs({0: [-0.5] * 10}), ORACLE)
    assert alone["policy"] == "thz-sync"


def test_the_table_names_the_model_based_start_beside_the_policies() -> None:
    gaps = [{"policy": "thz-sync", "oracle_gap_pct": 1.0}]
    rows = regret_rows(SLOW, QUICK, ORACLE)
    table = regrets({"rows": gaps, "regrets": rows})
    assert [row[0] for row in table.rows] == ["THz-SynC", "THz-SynC, model-based start"]
    assert len(regrets({"rows": gaps}).rows) == 1


def test_the_model_based_start_is_a_variant_of_the_scenario() -> None:
    keys = Scenario.paper().with_(QUICKER_KEYS).coordinator
    assert (keys.search, keys.bandit.warm_up) == ("model-based-even", 0)
