"""The plane of delay and energy: every point is a contender, and claims respect intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.paper.planes import made_up
from thzsync.paper.beyond import ENDS, POINTS, WEIGHTS
from thzsync.paper.pictures import draw_plane
from thzsync.report.answer import answer
from thzsync.report.markdown import fill, read_parts
from thzsync.report.source import open_results
from thzsync.report.story import STORIES
from thzsync.report.tables import page_tables
from thzsync.scenario import Scenario


def test_points_are_the_weights_on_both_sets_of_mechanisms_and_the_ends() -> None:
    assert len({point.name for point in POINTS}) == 2 * len(WEIGHTS) + len(ENDS)
    beyond = Scenario.preset("beyond")
    for point in POINTS:
        changed = beyond.with_(point.contender().set)
        paper = Scenario.paper()
        assert (changed.collectives == paper.collectives) == (point.config == "paper")
        assert (changed.coordinator.bandit == paper.coordinator.bandit) == (point.config == "paper")
        if point.time_weight is not None:
            assert changed.reward.time_weight == point.time_weight


def test_rows_hold_published_points_first_and_intervals_over_seeds() -> None:
    rows = made_up(3).rows()
    published = [row for row in rows if row["config"] == "published"]
    assert rows[: len(published)] == published
    assert published[0]["completion_ms"] == 1050
    assert published[0]["makespan_ms"] is None
    ours = next(r for r in rows if r["config"] == "beyond" and r["time_weight"] == 0.7)
    assert ours["completion_ms"] == pytest.approx(350 / 0.7 + 1)
    assert ours["ci95_completion_ms"] > 0


def about(claims: dict[str, bool | None], other: str) -> bool | None:
    """The claim about another point."""
    (holds,) = (holds for claim, holds in claims.items() if claim.endswith(other))
    return holds


def test_a_point_is_below_another_only_beyond_the_intervals_of_both() -> None:
    claims = made_up(3).claims()
    assert about(claims, "all-wired") is True
    assert about(claims, "paper thz-sync at 0.7/0.3") is True
    assert set(made_up(1).claims().values()) <= {None, False}  # one seed decides nothing
    worse = made_up(3, paper_ms=10.0).claims()
    assert about(worse, "paper thz-sync at 0.9/0.1") is False


def test_the_figure_is_saved_shown_and_told(tmp_path: Path) -> None:
    folder = made_up(3).save(tmp_path / "beyond")
    document = json.loads((folder / "beyond.json").read_text("utf-8"))
    assert document["kind"] == "beyond"
    assert (folder / "figures" / "delay_and_energy.svg").is_file()
    results = open_results(folder)
    assert results.beyond == document
    assert page_tables(results)["headline"]
    story = STORIES["beyond"](document)
    assert story in answer(results).headline
    filled, _ = fill("<!-- table:beyond -->\n<!-- /table -->\n", read_parts(tmp_path))
    assert "0.7 / 0.3" in filled


def test_the_picture_names_every_point_and_near_ones_together() -> None:
    (axes,) = draw_plane(made_up(2).document()).axes
    texts = [text.get_text() for text in axes.texts]
    named = [name for text in texts for name in text.split("\n")]
    assert {f"{time:g}/{energy:g}" for time, energy in WEIGHTS} <= set(named)
    assert set(ENDS) <= set(named)
    assert len(texts) < len(POINTS) + 8
