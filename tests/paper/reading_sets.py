"""Sets of readings whose numbers are known beforehand."""

from __future__ import annotations

from thzsync.paper.questions import (
    PLACES,
    QUESTIONS,
    RANGES,
    VALUES,
    Numbers,
    defaults,
)
from thzsync.paper.readings import Assembly, ReadingsFigure
from thzsync.scenario import Scenario


def as_published(factor: float = 1.0) -> Numbers:
    """Every number so many times the published one; ablations in the middle of their ranges."""
    return {
        place: (sum(RANGES[place]) / 2,) * 4 if place in RANGES else factor * VALUES[place]
        for place in PLACES
    }


def made_up() -> ReadingsFigure:
    """Our defaults, a tenth and a fifth off, and a set that hits every number."""
    other = defaults() | {"sharing": QUESTIONS["sharing"][1]}
    sets = [(defaults(), as_published(1.2)), (other, as_published())]
    return ReadingsFigure(sets, 2, Assembly(Scenario.paper()))
