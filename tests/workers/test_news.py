"""Calls under way are heard of, and whoever waits knows how much of everything is done."""

from __future__ import annotations

import pytest

from thzsync.experiments.runs import counting
from thzsync.feasibility import Asked, effort_of
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.workers import Call, open_executor
from thzsync.workers import call as news

HALFWAY = Call("tests.workers.jobs:halfway", str(1.1 * news.NEWS_EVERY_S).encode())
TINY = Scenario.preset("tiny")


@pytest.mark.parametrize("workers", [1, 2])
def test_news_comes_before_the_answer_and_neither_is_lost(workers: int) -> None:
    done: list[float] = []
    with open_executor(workers) as executor:
        found = dict(executor.run([HALFWAY] * 2, done.append))
    assert [len(answer.payload) for _, answer in sorted(found.items())] == [2**20] * 2
    expected = [0.5, 1.0, 1.5, 2.0]
    assert done == (expected if workers == 1 else sorted(done))
    assert (done[0], done[-1], len(done)) == (0.5, 2.0, 4)


def test_nobody_needs_to_listen() -> None:
    with open_executor(2) as executor:
        assert [answer.error for _, answer in executor.run([HALFWAY] * 2)] == [None, None]
    assert not news.heard()
    news.tell(0.5)
    assert counting(TINY, 3)() is False


def test_a_run_tells_its_share_decision_by_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(news, "NEWS_EVERY_S", 0.0)
    heard: list[float] = []
    with news.hearing(heard.append):
        simulate(TINY, "all-wired", 2, 0, references={}, stop=counting(TINY, 2))
    decisions = effort_of(Asked(TINY, 2, learns=False, kept=False)).decisions
    assert heard == pytest.approx([k / decisions for k in range(1, decisions + 1)])


def test_news_is_told_from_time_to_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 0.6, 0.7, 1.2])
    monkeypatch.setattr(news.time, "monotonic", lambda: next(clock))
    heard: list[float] = []
    with news.hearing(heard.append):
        for share in (0.1, 0.2, 0.3, 0.4):
            news.tell(share)
    assert heard == [0.2, 0.4]
