"""The bar of a run moves with every event, not only where an iteration ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from thzsync import simulation
from thzsync.cli import announcement, main, run
from thzsync.simulation import Run, simulate


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


def test_a_run_without_a_folder_shows_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "tiny", "--policy", "fixed-ratio", "--iterations", "2", "--json"]
    assert main([*words, "--out", str(tmp_path / "kept")]) == 0
    kept = capsys.readouterr().out
    assert main(words) == 0
    assert capsys.readouterr().out == kept


def test_what_is_announced_and_made_depends_on_whether_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "WORTH_TELLING_S", 0.0)
    made: list[bool] = []

    def watched(*given: Any, detailed: bool, **named: Any) -> Run:
        made.append(detailed)
        return simulate(*given, detailed=detailed, **named)

    monkeypatch.setattr(simulation, "simulate", watched)
    words = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]
    said = []
    for where in ([], ["--out", str(tmp_path / "kept")]):
        for flows in ([], ["--set", "optical.fidelity=flow"]):
            assert main([*words, *flows, *where]) == 0
            said.append(capsys.readouterr().err)
    assert all("of memory" in line for line in said)
    assert ["on disk" in line for line in said] == [False, False, True, True]
    assert made == [False, False, True, True]


def test_flows_beyond_the_tolerance_end_with_status_3_with_and_without_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {
        "optical.fidelity": "flow", "optical.fidelity_tolerance": "1e-9",
        "optical.background.load": "0.3", "optical.replayed_share": "1",
    }  # fmt: skip
    words = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    for where in ([], ["--out", str(tmp_path / "kept")]):
        assert main([*words, *where]) == 3
        said = capsys.readouterr()
        assert "beyond optical.fidelity_tolerance" in said.err
        assert '"fidelity"' in said.out
