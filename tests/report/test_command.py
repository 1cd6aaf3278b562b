from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.simulation import Run


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run.save(tmp_path_factory.mktemp("run"))


def test_the_report_lies_beside_the_results(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.strip() == f"wrote {folder / 'report.html'}"
    assert (folder / "report.html").stat().st_size > 50_000


def test_json_names_everything_that_was_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, timeline = tmp_path / "page.html", tmp_path / "timeline.json.gz"
    arguments = ["report", str(folder), "--out", str(out), "--perfetto", str(timeline)]
    assert main([*arguments, "--figures", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["report"] == str(out)
    assert document["perfetto"] == str(timeline)
    assert len(document["figures"]) == 6
    for path in (out, timeline, *map(Path, document["figures"])):
        assert path.is_file()


@pytest.mark.parametrize("arguments", [["nowhere"], ["."], []])
def test_a_users_mistake_ends_with_status_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments]) == 2


def test_a_place_that_cannot_be_written_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["report", str(folder), "--out", str(tmp_path / "file" / "page.html")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("thzsync: error:")
    assert str(tmp_path / "file") in line
