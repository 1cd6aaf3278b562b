"""From the paper's coordinator to ours: every rung takes one departure more."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.paper.ladders import made_up
from thzsync.files import dump_json
from thzsync.paper.figure import Request
from thzsync.paper.ladder import (
    DEPARTURES,
    LEARNERS,
    OURS,
    RUNGS,
    LadderFigure,
    contenders,
    reproduce,
    settled_after,
)
from thzsync.paper.letter_tables import ladder as ladder_table
from thzsync.paper.pictures import draw_ladder
from thzsync.report.answer import answer
from thzsync.report.markdown import fill, read_parts
from thzsync.report.source import open_results
from thzsync.report.story import STORIES
from thzsync.report.tables import page_tables
from thzsync.scenario import Scenario
from thzsync.studies.result import Sweep


def changes(policy: str) -> list[dict[str, Any]]:
    return [c.set for c in contenders() if c.policy == policy]


def test_the_first_step_is_faithful_and_the_last_ones_have_a_cost_model() -> None:
    _, letter, *_, ours, best_first, even_too = changes("thz-sync")
    assert RUNGS[-3] == OURS
    assert best_first == {"coordinator.search": "model-based", "coordinator.bandit.warm_up": 0}
    assert even_too == best_first | {"coordinator.search": "model-based-even"}
    assert letter == {
        "coordinator.encoder": "flat",
        "coordinator.search": "partial",
        "coordinator.bandit.deviation_cost": 0.0,
        "coordinator.reward": "raw",
        "coordinator.gains": "by-subband",
        "coordinator.bandit.warm_up": 0,
    }
    assert ours == {}


@pytest.mark.parametrize("policy", LEARNERS)
def test_every_rung_takes_one_departure_more(policy: str) -> None:
    rungs = changes(policy)
    assert len(rungs) == len(RUNGS)
    assert rungs[0] == rungs[1] | DEPARTURES[0].keys(policy)
    for below, above in pairwise(rungs[1 : RUNGS.index(OURS) + 1]):
        assert above.items() <= below.items()
        assert len(below) - len(above) == 1 or (policy == "ddqn" and not below)
        Scenario.paper().with_(below)


def test_a_learner_has_settled_when_its_reward_stays_within_five_per_cent() -> None:
    rewards = np.array([-2.0, -1.2, -1.04, -1.0, -1.0, -1.0, -1.0, -1.0])
    assert settled_after(rewards) == 3
    assert settled_after(np.full(6, -0.5)) == 1


def test_a_change_is_paired_with_the_rung_before() -> None:
    rows = made_up(3).rows()
    assert [row["rung"] for row in rows[: len(RUNGS)]] == list(RUNGS)
    assert rows[1]["diff_completion_ms"] == pytest.approx(-10.0)
    assert rows[1]["ci95_diff_completion_ms"] == pytest.approx(0.0)
    assert rows[0]["paper_completion_ms"] == 1050.0


def test_a_seed_that_is_not_whole_is_left_out() -> None:
    figure = made_up(3)
    name = contenders()[-1].name
    torn = figure.sweep.frame.filter((pl.col("seed") != 2) | (pl.col("policy") != name))
    left = LadderFigure(Sweep(figure.sweep.specification, figure.sweep.scenario, ({},), torn))
    assert left.seeds == [0, 1]
    assert left.rows()[0]["completion_ms"] == pytest.approx(100.5)


def test_table_sentence_and_picture_show_every_rung() -> None:
    document = json.loads(dump_json(made_up(3).document()))
    table = ladder_table(document)
    assert len(table.rows) == len(RUNGS) * len(LEARNERS)
    assert "3 paired seeds" in table.caption
    assert re.search(r"101 ± 2\.5 .*31 ± 2\.5 ms", STORIES["ladder"](document))
    figure = draw_ladder(document)
    assert [len(axes.get_xticks()) for axes in figure.axes] == [len(RUNGS)] * 3
    assert "±" not in STORIES["ladder"](made_up(1).document())


def test_the_page_and_the_pages_of_the_documentation_show_it(tmp_path: Path) -> None:
    figure = made_up(2)
    (tmp_path / "ladder").mkdir()
    (tmp_path / "ladder" / "ladder.json").write_text(dump_json(figure.document()))
    (tmp_path / "reproduce.json").write_text('{"kind": "reproduce", "parts": ["ladder"]}')
    results = open_results(tmp_path)
    (shown,) = page_tables(results)["headline"]
    assert len(shown.rows) == len(RUNGS) * len(LEARNERS)
    assert answer(results).headline
    text, filled = fill("<!-- table:letter -->\n<!-- /table -->\n", read_parts(tmp_path))
    assert filled == ["letter"]
    assert "| THz-SynC | 100.5 ± 6.4 | 1,050 |" in text


@pytest.mark.slow
def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    tiny, seen = Scenario.preset("tiny"), []
    first = reproduce(Request(tiny, 1, 2, 1, folder=tmp_path))
    reproduce(Request(tiny, 1, 2, 1, lambda *told: seen.append(told), folder=tmp_path))
    assert all(done == total for _, done, total in seen)
    first.save(tmp_path)
    assert json.loads((tmp_path / "ladder.json").read_text())["missing"] == 0
    assert (tmp_path / "figures" / "ladder_by_rung.svg").is_file()
