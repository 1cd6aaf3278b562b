"""Disciplines from outside are checked when they are made known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.wireless.worlds import CHUNK, admit, channel_of, even_gains, method_of, play
from thzsync.collectives import Transfer
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.wireless import Overlay
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.discipline import find_discipline, register_discipline
from thzsync.wireless.disciplines import Streaming
from thzsync.wireless.group import FlowGroup

WHOLE = {
    "name": "mine", "common": True, "guarded": True, "steers": False, "in_turn": True,
    "tune": print, "start": print,
}  # fmt: skip


@pytest.mark.parametrize("missing", sorted(WHOLE))
def test_one_that_lacks_something_is_refused(missing: str) -> None:
    part: Any = SimpleNamespace(**{k: v for k, v in WHOLE.items() if k != missing})
    with pytest.raises(ThzSyncError, match=rf"^discipline: .*\b{missing}\b"):
        register_discipline(part)


def test_a_name_is_given_once() -> None:
    assert register_discipline(find_discipline("streaming")) is find_discipline("streaming")
    with pytest.raises(ThzSyncError, match="'streaming'"):
        register_discipline(Streaming("streaming"))


@dataclass(frozen=True)
class OnePerFloor(Streaming):
    """Streaming that waits until nobody on the floor sends."""

    name: str = "one-per-floor"
    floor_wide: bool = True
    work_conserving: bool = False

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        if group.view.air.busy.any():
            return 0, 0, False
        return super().start(group, now_ps)


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_floor_wide_discipline_is_asked_again_when_other_racks_have_ended() -> None:
    register_discipline(OnePerFloor())
    thz = Thz()
    overlay = Overlay(thz, channel_of(even_gains(thz, 4)), 4)
    method: Any = replace(method_of("p2p"), discipline="one-per-floor")  # type: ignore[type-var]
    demand = Transfer.of(np.array([0]), np.array([1]), np.array([3 * CHUNK]))
    for number, racks in enumerate((np.array([0, 1]), np.array([2, 3]))):
        there = Transfer.of(racks[demand.src], racks[demand.dst], demand.size_bytes)
        admit(overlay, number, there, racks, method, thz)
    rounds = play(overlay)
    assert [r.number for r in rounds] == [0, 0, 0, 1, 1, 1]
    assert all(a.end_ps == b.start_ps for a, b in pairwise(rounds))
