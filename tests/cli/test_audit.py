from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thzsync.cli import main
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("record") / "demo"
    return simulate(Scenario.preset("tiny"), "all-wired", 1).save(folder)


def test_a_sound_record_passes(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(record)]) == 0
    assert "power_cap" in capsys.readouterr().out


def test_a_file_is_no_record(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(record / "run.json")]) == 2
    message = capsys.readouterr().err
    assert "run.json: " in message
    assert "`thzsync run --out`" in message


def change(key: str, value: Any) -> Callable[[str], str]:
    return lambda text: json.dumps(json.loads(text) | {key: value})


DAMAGE: dict[str, tuple[Callable[[str], str], str]] = {
    "cut short": (lambda text: text[:40], "JSON"),
    "nested without end": (lambda text: "[" * 100_000, "JSON"),
    "an array": (lambda text: "[]", "format 3"),
    "another format": (change("format", 9), "format 3"),
    "a seed of text": (change("seed", "x"), "run.json: seed"),
    "references of text": (change("references", {"a2a": ["x", 1]}), "run.json: references"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_provenance_is_one_line(
    case: str, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, message = DAMAGE[case]
    folder = Path(shutil.copytree(record, tmp_path / "demo"))
    (folder / "run.json").write_text(damage((folder / "run.json").read_text()))
    assert main(["audit", str(folder)]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("table", ["events", "chunks", "links"])
def test_a_damaged_table_is_one_line(
    table: str, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(record, tmp_path / "demo"))
    file = folder / f"{table}.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    assert main(["audit", str(folder)]) == 2
    assert f"{table}.parquet: " in capsys.readouterr().err


@pytest.mark.parametrize("command", ["audit", "report"])
def test_a_record_without_iterations_is_one_line(
    command: str, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run.load(record)
    empty = {name: frame.head(0) for name, frame in run.tables.items()}
    folder = replace(run, tables=empty).save(tmp_path / "demo")
    assert main([command, str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"thzsync: error: {folder}: ")
