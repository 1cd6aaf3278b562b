"""Sets of readings whose numbers are known beforehand."""

from __future__ import annotations

from thzsync.paper.questions import (
    QUESTIONS,
    Numbers,
    defaults,
    interval,
    places,
    published,
)
from thzsync.paper.readings import Assembly, ReadingsFigure
from thzsync.scenario import Scenario


def as_published(factor: float = 1.0) -> Numbers:
    """Every number so many times the published one; ablations in the middle of their ranges."""
    return {
        place: (sum(interval(place)) / 2,) * 4
        if place[3] == "increase"
        else factor * published(place)
        for place in places()
    }


def made_up() -> ReadingsFigure:
    """Our defaults, a tenth and a fifth off, and a set that hits every number."""
    other = defaults() | {"sharing": QUESTIONS["sharing"][1]}
    sets = [(defaults(), as_published(1.2)), (other, as_published())]
    return ReadingsFigure(sets, 2, Assembly(Scenario.paper()))
