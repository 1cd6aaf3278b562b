"""The bar of a run moves with every event, not only where an iteration ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from thzsync.cli import main, run


def test_the_bar_moves_by_events_and_ends_full(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: dict[str, tuple[float, list[float]]] = {}

    @contextmanager
    def watched(description: str, total: int) -> Iterator[Callable[..., None]]:
        steps: list[float] = []
        bars[description] = (total, steps)
        yield lambda step=1, description=None: steps.append(step)

    monkeypatch.setattr(run, "progress", watched)
    assert main(["run", "tiny", "--policy", "all-wired", "--iterations", "2", "--json"]) == 0
    assert list(bars) == ["references: all-wired", "all-wired: first iteration"]
    for total, steps in bars.values():
        assert sum(steps) == pytest.approx(total)
        assert len(steps) > 4 * total
