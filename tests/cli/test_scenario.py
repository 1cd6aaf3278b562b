from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.files import parse_scenario


@pytest.mark.parametrize("name", preset_names())
def test_show_prints_toml_that_loads_again(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "show", name]) == 0
    assert parse_scenario(capsys.readouterr().out, "shown") == Scenario.preset(name)


def test_show_defaults_to_the_paper_and_knows_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "show", "--json"]) == 0
    assert Scenario.model_validate(json.loads(capsys.readouterr().out)) == Scenario.paper()


def test_schema_is_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "schema"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert main(["scenario", "schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == plain
    assert plain["title"] == "Scenario"


@pytest.mark.parametrize("name", preset_names())
def test_new_writes_a_file_that_loads(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    assert main(["scenario", "new", str(file), "--preset", name]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert str(file) in captured.err.replace("\n", "")
    assert Scenario.load(file) == Scenario.preset(name)


def test_new_spares_a_file_unless_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    assert main(["scenario", "new", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert main(["scenario", "new", str(file), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(file), "preset": "paper"}
    assert Scenario.load(file) == Scenario.paper()


def test_new_says_why_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "new", str(tmp_path / "no" / "folder.toml")]) == 2
    assert "(No such file or directory)" in capsys.readouterr().err


def test_list_knows_every_name_a_scenario_may_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "list", "--json"]) == 0
    names = json.loads(capsys.readouterr().out)
    assert names["presets"] == preset_names()
    assert "mixtral-8x7b" in names["models"]
    assert names["allreduce methods"][:2] == ["proposed", "ring"]
    assert "thz-sync" in names["policies"]
    assert main(["scenario", "list"]) == 0
    assert "mixtral-8x7b" in capsys.readouterr().out


def test_names_are_shown_without_what_a_terminal_would_obey(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.toml"
    file.write_text('preset = "tiny"\nname = "\\u001b[31m\\u009b0m"\n')
    for command in (["scenario", "show"], ["scenario", "show", "--json"]):
        assert main([*command, str(file)]) == 0
    assert main(["run", "--policy", "all-wired", "--iterations", "1", str(file)]) == 0
    captured = capsys.readouterr()
    assert not {"\x1b", "\x9b"} & set(captured.out + captured.err)
