"""How far a run is that somebody waits for elsewhere, by its decisions."""

from __future__ import annotations

from collections.abc import Callable

from thzsync.feasibility import Asked, effort_of
from thzsync.scenario import Scenario
from thzsync.workers.news import heard, tell


def counting(scenario: Scenario, iterations: int) -> Callable[[], bool]:
    """Is called before every decision of a run, tells which share is done, and never stops it."""
    if not heard():
        return lambda: False
    whole = effort_of(Asked(scenario, iterations, learns=False, kept=False)).decisions
    decided = 0

    def step() -> bool:
        nonlocal decided
        decided += 1
        tell(min(1.0, decided / whole))
        return False

    return step
