"""A folder shows one record, the old or the new one, whatever happens while it is replaced."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.experiments.compare import Comparison, compare
from thzsync.records import folder as folders
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate


@pytest.fixture(scope="module")
def runs() -> tuple[Run, Run]:
    tiny = Scenario.preset("tiny")
    return tuple(simulate(tiny, "all-wired", 1, seed, references={}) for seed in (0, 1))  # type: ignore[return-value]


class Crash(BaseException):
    """The process is gone."""


def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process end before its ``step``-th rename, whether of a write or of a move."""
    done = 0
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        nonlocal done
        done += 1
        if done > step:
            raise Crash
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("step", range(24))
def test_a_crash_while_overwriting_leaves_the_old_run_or_the_new_one(
    step: int, runs: tuple[Run, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = runs
    old.save(tmp_path / "demo")
    with monkeypatch.context() as patch:
        crash_at(step, patch)
        if step < 23:  # eleven files written, the marker, eleven files moved
            with pytest.raises(Crash):
                new.save(tmp_path / "demo")
        else:
            new.save(tmp_path / "demo")
    found = Run.load(tmp_path / "demo")
    expected = new if step > 11 else old
    assert found.seed == expected.seed
    assert all(found.tables[name].equals(table) for name, table in expected.tables.items())
    old.save(tmp_path / "demo")  # and the next writer clears up
    assert Run.load(tmp_path / "demo").seed == old.seed
    assert not (tmp_path / "demo" / folders.INCOMING).exists()


@pytest.mark.parametrize("file", ["chunks.parquet", "scenario.toml", "run.json"])
@pytest.mark.parametrize("command", ["audit", "report"])
def test_a_mixture_of_two_runs_is_refused_in_one_line(
    file: str,
    command: str,
    runs: tuple[Run, Run],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, other = (run.save(tmp_path / str(run.seed)) for run in runs)
    other_toml = other / "scenario.toml"
    other_toml.write_text(other_toml.read_text() + "# changed")
    shutil.copy(other / file, one / file)
    assert main([command, str(one)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(one) in said


def changed(document: dict[str, Any], key: str, value: object) -> str:
    return json.dumps(document | {key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [("policy", "ddqn"), ("iterations", 9), ("scenario", "paper"), ("scenario_sha256", "0" * 64)],
)
def test_a_changed_marker_is_refused(
    key: str, value: object, runs: tuple[Run, Run], tmp_path: Path
) -> None:
    marker = runs[0].save(tmp_path / "demo") / "run.json"
    marker.write_text(changed(json.loads(marker.read_text()), key, value))
    with pytest.raises(ThzSyncError, match=f"^{marker}: "):
        Run.load(tmp_path / "demo")


def test_a_marker_without_checksums_is_refused(runs: tuple[Run, Run], tmp_path: Path) -> None:
    marker = runs[0].save(tmp_path / "demo") / "run.json"
    marker.write_text(changed(json.loads(marker.read_text()), "files", None))
    with pytest.raises(ThzSyncError, match=f"^{marker}: "):
        Run.load(tmp_path / "demo")


def test_a_comparison_is_bound_together_with_its_runs(tmp_path: Path) -> None:
    tiny = Scenario.preset("tiny")
    result = compare(tiny, ("all-wired", "fixed-ratio"), seeds=1, iterations=1, workers=1)
    source = result.save(tmp_path / "demo")
    assert Comparison.load(source).events.equals(result.events)
    assert list(Comparison.load(source).details) == ["all-wired", "fixed-ratio"]
    Run.load(source / "runs" / "all-wired")
    shutil.copy(source / "runs/all-wired/events.parquet", source / "runs/fixed-ratio")
    with pytest.raises(ThzSyncError, match=r"fixed-ratio/events\.parquet: "):
        Comparison.load(source)


def test_equal_runs_give_equal_folders(runs: tuple[Run, Run], tmp_path: Path) -> None:
    one, other = (runs[0].save(tmp_path / name) for name in "ab")
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()
