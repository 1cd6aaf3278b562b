from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.experiments.compare import Comparison
from thzsync.experiments.statistics import interval95
from thzsync.report import Results, open_results, write_report
from thzsync.report.curves import (
    collective_rows,
    delay_energy_plane,
    distributions,
    fabric_split,
    learning_curves,
    pareto,
)
from thzsync.report.tables import page_tables

coordinate = st.integers(0, 8).map(float)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=12))
def test_the_frontier_holds_exactly_the_undominated_points(
    points: list[tuple[float, float]],
) -> None:
    def beaten(p: tuple[float, float]) -> bool:
        return any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)

    frontier = pareto(points)
    assert {points[k] for k in frontier} == {p for p in points if not beaten(p)}
    chosen = [points[k] for k in frontier]
    assert chosen == sorted(chosen)
    assert len(set(chosen)) == len(chosen)


def test_curves_are_means_over_seeds_with_students_interval(results: Results) -> None:
    assert results.fabric is not None
    curves = learning_curves(results, results.fabric)
    frame = results.fabric.iterations.filter(pl.col("policy") == "all-wired")
    values = frame.filter(pl.col("iteration") == 2)["energy_j"].to_numpy()
    mean, half = interval95(values)
    series = curves["series"]["all-wired"]
    assert series["iteration"] == [1, 2, 3]  # as people count
    assert series["energy_j"]["mean"][2] == pytest.approx(mean, rel=1e-4)
    assert series["energy_j"]["half"][2] == pytest.approx(half, rel=1e-4)
    assert curves["first"] == 2


def test_one_seed_has_no_band(comparison: Comparison) -> None:
    one = Comparison(
        comparison.scenario,
        ("all-wired",),
        (0,),
        comparison.iterations.filter((pl.col("policy") == "all-wired") & (pl.col("seed") == 0)),
        comparison.events,
        {},
    )
    row = {"policy": "all-wired", "completion_ms": 1.0, "energy_j": 1.0}
    curves = learning_curves(Results("run", None, one, [row]), one)  # type: ignore[arg-type]
    assert set(curves["series"]["all-wired"]["reward"]["half"]) == {None}


def test_the_plane_has_a_small_point_per_seed(results: Results) -> None:
    assert results.fabric is not None
    plane = delay_energy_plane(results, results.fabric)
    assert [len(p["cloud"]["x"]) for p in plane["points"]] == [2, 2, 2]
    assert plane["oracle"] == {"x": 10.0, "y": 0.1}
    point, row = plane["points"][0], results.rows[0]
    assert np.mean(point["cloud"]["x"]) == pytest.approx(row["completion_ms"], rel=1e-4)


@pytest.mark.parametrize(
    ("counts", "key"),
    [
        ("transmission", "energy_j"),
        ("wall-plug", "wall_energy_j"),
        ("with-static", "total_energy_j"),
    ],
)
def test_charts_show_the_energy_that_the_reward_counts(
    comparison: Comparison, results: Results, counts: str, key: str
) -> None:
    counting = comparison.scenario.with_({"reward.energy": counts})
    other = replace(comparison, scenario=counting)
    assert [m["key"] for m in learning_curves(results, other)["metrics"]][2] == key
    point = delay_energy_plane(results, other)["points"][0]
    mine = comparison.iterations.filter(
        (pl.col("policy") == point["policy"]) & (pl.col("iteration") >= results.first)
    )
    assert np.mean(point["cloud"]["y"]) == pytest.approx(mine[key].mean(), rel=1e-4)
    title = "Transmission energy" if counts == "transmission" else "Energy at the wall plug"
    assert fabric_split(other, first=0)[0]["energy"] == title


def test_distributions_count_every_event_and_order_their_quantiles(comparison: Comparison) -> None:
    panels = distributions(comparison, first=0)
    assert [p["kind"] for p in panels] == ["p2p", "a2a", "allreduce"]
    assert sum(row["count"] for p in panels for row in p["rows"]) == comparison.events.height
    for row in (row for p in panels for row in p["rows"]):
        quantiles = list(row["quantiles"].values())
        assert quantiles == sorted(quantiles)
        assert quantiles[-1] <= row["greatest"]
        assert max(row["density"]) == 1


def test_bytes_and_joules_add_up_to_the_iterations(comparison: Comparison) -> None:
    for split in fabric_split(comparison, first=0):
        frame = comparison.iterations.filter(pl.col("policy") == split["policy"])
        total = split["total"]
        for column, name in (("thz_j", "thz_energy_j"), ("completion_ms", "completion_ms")):
            assert total[column] == pytest.approx(frame[name].mean(), rel=1e-4, abs=1e-12)
        carried = total["thz_bytes"] + total["wired_bytes"]
        assert total["thz_bytes"] / carried == pytest.approx(frame["thz_share"].mean(), abs=1e-4)


def test_bandwidths_stand_by_collective_and_policy_with_intervals(
    comparison: Comparison, tmp_path: Path
) -> None:
    rows = collective_rows(comparison, 1)
    assert [(r["kind"], r["policy"]) for r in rows[:2]] == [
        ("p2p", "fixed-ratio"),
        ("p2p", "all-wired"),
    ]
    for row in rows:
        assert row["busbw_gb_s"] > 0
        assert row["ci95_algbw_gb_s"] >= 0
    results = open_results(comparison.save(tmp_path))
    (table,) = page_tables(results)["distributions"]
    assert len(table.rows) == len(rows)
    assert table.title in write_report(results).read_text("utf-8")


def test_a_comparison_of_before_has_no_bandwidths(comparison: Comparison) -> None:
    older = replace(comparison, events=comparison.events.drop("algbw_gb_s", "busbw_gb_s"))
    assert collective_rows(older, 0) == []
