"""Disciplines from outside are checked when they are made known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.wireless.discipline import find_discipline, register_discipline
from thzsync.wireless.disciplines import Streaming

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
