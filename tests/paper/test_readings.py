"""Readings: every question has our answer first, and all numbers are judged alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.paper.reading_sets import as_published, made_up
from thzsync.files import dump_json
from thzsync.paper import reading_runs
from thzsync.paper.questions import (
    LETTER,
    PLACES,
    QUESTIONS,
    Readings,
    defaults,
    departures,
    every_set,
    fit,
    log_distance,
    score,
)
from thzsync.paper.reading_runs import VARIANTS, Found, RingRun, TraceRun, complete
from thzsync.paper.readings import Assembly
from thzsync.report.answer import answer
from thzsync.report.source import open_results
from thzsync.report.story import STORIES
from thzsync.report.tables import page_tables
from thzsync.scenario import Scenario

NO_CHANNEL = next(place for place in PLACES if place[1] == "no-channel")


def never(task: object) -> None:
    """Stands for a measurement that must not be made."""
    raise AssertionError(task)


def with_answer(question: str, number: int) -> Readings:
    return defaults() | {question: QUESTIONS[question][number]}


def test_the_paper_has_thirty_numbers_and_hits_them_all_itself() -> None:
    assert len(PLACES) == 30
    judged = score(as_published())
    assert (judged.within, judged.count) == (30, 30)
    assert judged.deviation_pct == pytest.approx(0.0)


def test_a_number_fits_within_fifteen_per_cent_and_an_ablation_in_its_range() -> None:
    judged = score(as_published(1.2))
    assert (judged.within, judged.count) == (2, 30)
    assert judged.deviation_pct == pytest.approx(100 * (1.2 ** (28 / 30) - 1))
    assert fit(NO_CHANNEL, (7.3, 9.0, 10.0, 14.0))
    assert not fit(NO_CHANNEL, (7.2, 9.0, 10.0, 14.0))
    assert log_distance(NO_CHANNEL, (7.3, 9.0, 10.0, 14.0)) == 0.0
    outside = log_distance(NO_CHANNEL, (0.0, 9.0, 10.0, 14.0))
    assert outside == pytest.approx(np.log(1.073) / 4)


def test_our_answers_come_first_and_change_nothing() -> None:
    first = next(every_set())
    assert first == defaults()
    assert departures(first) == []
    assert all(not answers[0].keys and not answers[0].methods for answers in QUESTIONS.values())


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_other_answer_is_a_valid_scenario_or_a_known_variant(question: str) -> None:
    for other in QUESTIONS[question][1:]:
        if other.keys:
            assert Scenario.paper().with_(dict(other.keys)) != Scenario.paper()
        for series, variant in other.methods.items():
            assert series == "ablations" or (series, variant) in VARIANTS
        assert other.keys or other.methods or other is LETTER


def test_a_policy_is_measured_anew_only_where_an_answer_concerns_it() -> None:
    made = Assembly(Scenario.paper())
    ours, alone = defaults(), with_answer("sharing", 1)
    assert made.trace("all-wired", ours) == made.trace("all-wired", alone)
    assert made.trace("all-wireless", ours) != made.trace("all-wireless", alone)
    assert made.trace("ddqn", ours) != made.trace("ddqn", alone)
    letter = made.trace("ddqn", with_answer("coordinator", 1))[0]
    assert isinstance(letter, TraceRun)
    assert dict(letter.keys)["coordinator.encoder"] == "flat"


def test_a_variant_stands_for_its_series_only() -> None:
    made, rounds = Assembly(Scenario.paper()), with_answer("permutations", 2)
    assert made.ring("a2a cyclic", 12, False, rounds).variant == "blind rounds"
    assert made.ring("a2a demand-sorted", 12, False, rounds).variant == ""


def test_a_round_per_chunk_takes_longer_than_links_that_are_held() -> None:
    held, rounds, blind = (
        RingRun("a2a cyclic", variant, 6, True, (), 2).measure()
        for variant in ("", "rounds", "blind rounds")
    )
    assert held["completion"] < rounds["completion"] < blind["completion"]
    assert 50 < held["completion"] - held["since data"] < 100


def test_what_was_measured_is_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = RingRun("a2a proposed", "", 4, False, (), 1)
    first: Found = {}
    complete(first, [task, task], tmp_path, workers=1)
    monkeypatch.setattr(reading_runs, "measure", never)
    again: Found = {}
    complete(again, [task], tmp_path)
    assert again[task] == first[task]
    (kept,) = (tmp_path / "measured").iterdir()
    kept.write_text("{")
    with pytest.raises(AssertionError):
        complete({}, [task], tmp_path, workers=1)


def test_numbers_are_put_together_from_measurements() -> None:
    made = Assembly(Scenario.paper())
    for learners in (False, True):
        for number, task in enumerate(made.tasks(defaults(), learners), start=1):
            names = ("completion", "energy", "reward", "since data")
            found = {name: float(number) for name in names}
            made.found[task] = found | {f"last {name}": -1.0 for name in names}
    ours = made.numbers(defaults())
    assert set(ours) == set(PLACES)
    assert all(isinstance(ours[p], tuple) == (p[3] == "increase") for p in ours)
    assert all(value == -1.0 for place, value in ours.items() if place[0] == "weights")
    assert len(made.numbers(defaults(), learners=False)) == 20


def test_the_figure_says_which_set_is_nearest(tmp_path: Path) -> None:
    figure = made_up()
    document = json.loads(dump_json(figure.document()))
    assert [row["within"] for row in document["rows"]] == [2, 30]
    assert all(row["nearest_fits"] for row in document["numbers"])
    assert "events one by one" in STORIES["readings"](document)
    figure.save(tmp_path)
    results = open_results(tmp_path)
    sets, numbers = page_tables(results)["headline"]
    assert len(sets.rows) == 2
    assert len(numbers.rows) == 30
    assert answer(results).headline == STORIES["readings"](document)
