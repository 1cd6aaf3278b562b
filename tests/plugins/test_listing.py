"""``thzsync plugins`` says what there is, and who brought it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.lab import write_lab
from thzsync.cli import main
from thzsync.registry import Registry

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")


def test_every_member_of_every_family_is_listed_with_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lab(tmp_path / "lab")
    assert main(["plugins", "lab/star.toml", "--plugin", "lab/star_lab.kinds", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plugins"].keys() == {"star_lab.methods", "star_lab.kinds"}
    members = {(m["family"], m["name"]): m["from"] for m in found["members"]}
    assert members["allreduce method", "star"] == "plug-in star_lab.methods 1.2"
    assert members["floor", "line"] == members["workload", "steps"] == "plug-in star_lab.kinds 1.2"
    assert members["network", "fat-tree"] == members["carrier", "thz"] == "built in"
    assert sum(len(family.known()) for family in Registry.families) == len(members)
    Path("idle_lab.py").write_text("")
    assert main(["plugins", "--plugin", "idle_lab"]) == 0
    assert "plug-in idle_lab" in capsys.readouterr().out
    assert main(["plugins"]) == 0
    assert "allreduce method" in capsys.readouterr().out
