"""The disciplines of the package conform; planted faults are found."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from thzsync.errors import ThzSyncError
from thzsync.testing import check_discipline
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.discipline import Discipline
from thzsync.wireless.disciplines import BUILT_IN, Rounds, Streaming
from thzsync.wireless.group import FlowGroup


@pytest.mark.parametrize("discipline", BUILT_IN, ids=lambda d: d.name)
def test_the_disciplines_of_the_package_conform(discipline: Discipline) -> None:
    assert check_discipline(discipline) > 1000


@dataclass(frozen=True)
class Lazy(Streaming):
    """It claims to be work conserving, and begins only every other time."""

    turn: list[int] = None  # type: ignore[assignment]

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        self.turn.append(now_ps)
        return super().start(group, now_ps) if len(self.turn) % 2 else (0, 0, False)


@dataclass(frozen=True)
class Silent(Streaming):
    def start(self, group: FlowGroup, now_ps: int) -> Started:
        return 0, 0, False


class Wasteful(Rounds):
    power = "least"  # type: ignore[assignment]


class Hasty(Streaming):
    in_turn = True  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("discipline", "told"),
    [
        (Wasteful("wasteful", optimal_power=False), "power_needed"),
        (Hasty("hasty", flights=4), "in_turn"),
        (Lazy("lazy", turn=[]), "differ|work_conserving"),
        (Silent("silent"), "nothing has arrived"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_planted_faults_are_found(discipline: Discipline, told: str) -> None:
    with pytest.raises(ThzSyncError, match=told):
        check_discipline(discipline)
