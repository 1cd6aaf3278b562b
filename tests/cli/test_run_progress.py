"""The bar of a run moves with every event, not only where an iteration ends."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from thzsync import simulation
from thzsync.cli import announcement, main, meter, output, run
from thzsync.records.journal import Journal, RunSpec, in_progress
from thzsync.scenario import Scenario
from thzsync.simulation import Run, reference_costs, simulate

Bars = dict[str, tuple[float, list[float]]]


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    """Total and steps of every bar, by its first words."""
    found: Bars = {}

    @contextmanager
    def watched(description: str, total: int) -> Iterator[Callable[..., None]]:
        steps: list[float] = []
        found[description] = (total, steps)
        yield lambda step=1, description=None: steps.append(step)

    monkeypatch.setattr(run, "following", watched)
    return found


def cut_short(folder: Path) -> None:
    """Leave a run of four iterations in a folder, interrupted in the third."""
    scenario, decisions = Scenario.preset("tiny"), iter(range(40))
    spec = RunSpec(scenario, "all-wired", 0, 4, reference_costs(scenario, 0))
    simulate(
        scenario, "all-wired", 4, 0, spec.references,
        journal=Journal.begin(folder, spec), stop=lambda: next(decisions, None) is None,
    )  # fmt: skip


def test_the_bar_moves_by_events_and_ends_full(bars: Bars) -> None:
    assert main(["run", "tiny", "--policy", "all-wired", "--iterations", "2", "--json"]) == 0
    assert [name.startswith("references") for name in bars] == [True, False]
    assert all("all-wired" in name for name in bars)
    for total, steps in bars.values():
        assert sum(steps) == pytest.approx(total)
        assert len(steps) > 4 * total


def test_a_resumed_run_counts_what_it_repeats_and_what_is_new(bars: Bars, tmp_path: Path) -> None:
    cut_short(tmp_path)
    assert main(["run", "--resume", str(tmp_path), "--json"]) == 0
    ((total, steps),) = bars.values()
    assert sum(steps) == pytest.approx(total) == 4
    assert len(steps) > 4 * total


def test_a_resumed_run_is_announced_without_a_change_that_is_too_late(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "WORTH_TELLING_S", 0.0)
    cut_short(tmp_path)
    assert main(["run", "--resume", str(tmp_path), "--json"]) == 0
    said = capsys.readouterr().err
    assert "MB" in said
    assert "--set" not in said


@pytest.mark.parametrize(
    "more",
    [["--iterations", "20"], ["--seed", "0"], ["--policy", "thz-sync"], ["--force"], ["tiny"]],
    ids=lambda more: more[0],
)
def test_what_a_resumed_run_would_ignore_is_refused_even_if_it_is_the_default(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut_short(tmp_path)
    assert main(["run", "--resume", str(tmp_path), *more]) == 2
    assert "--resume" in capsys.readouterr().err
    assert in_progress(tmp_path)


def test_without_a_terminal_a_run_tells_how_far_it_is_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(meter, "LINE_EVERY_S", 0.02)
    with meter.following("all-wired: first iteration", 4) as advance:
        time.sleep(0.2)
        advance(0.5)
        advance(1, "all-wired: 9 ms")
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert re.findall(r"\d+", lines[0]) == ["0", "4"]
    assert re.fullmatch(r"all-wired: 9 ms, 1\.5 .*\b4 .*\d+ s .*", lines[-1])


def test_a_short_run_without_a_terminal_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]) == 0
    assert not capsys.readouterr().err


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

    def watched(*given: Any, detailed: bool = True, **named: Any) -> Run:
        made.append(detailed)
        return simulate(*given, detailed=detailed, **named)

    monkeypatch.setattr(simulation, "simulate", watched)
    monkeypatch.setattr(output, "prepare_kernels", lambda: None)  # it simulates, too
    words = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]
    said = []
    for where in ([], ["--out", str(tmp_path / "kept")]):
        for flows in ([], ["--set", "optical.fidelity=flow"]):
            assert main([*words, *flows, *where, "--force"]) == 0
            said.append(capsys.readouterr().err)
    sizes = [len(re.findall(r"\d [KMGT]?B\b", line)) for line in said]
    assert sizes == [1, 1, 2, 2]  # memory, and the disk
    assert made == [False, False, True, True]


def test_flows_are_recommended_only_where_they_will_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "WORTH_TELLING_S", 0.0)
    monkeypatch.setattr(announcement, "BETTER", 10.0)
    words = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]
    for load, recommended in (("0.15", True), ("0.8", False)):
        assert main([*words, "--set", f"optical.background.load={load}"]) == 0
        said = capsys.readouterr().err
        assert "MB" in said
        assert ("optical.fidelity=flow" in said) == recommended


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
        assert "optical.fidelity_tolerance" in said.err
        assert '"fidelity"' in said.out
