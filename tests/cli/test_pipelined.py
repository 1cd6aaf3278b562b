"""`--pipelined` and names in the field's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.answer.question import pipelined
from thzsync.cli import main
from thzsync.cli.reproduce import ALIASES, reproduce_app
from thzsync.paper.catalogue import FIGURES
from thzsync.scenario import Scenario

QUICK = ["--iterations", "1", "--json"]
BEST = pipelined(Scenario.preset("tiny"))


def digest(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words, *QUICK]) == 0
    found: str = json.loads(capsys.readouterr().out)["scenario_sha256"]
    return found


@pytest.mark.parametrize(
    "words",
    [
        ["run", "tiny", "--policy", "all-wired"],
        ["compare", "tiny", "--policies", "all-wired", "--seeds", "1", "--workers", "1"],
        ["sweep", "tiny", "--policies", "all-wired", "--seeds", "1", "--workers", "1"],
    ],
    ids=lambda words: words[0],
)
def test_pipelined_sets_the_mechanisms_of_the_answer_and_set_comes_after_it(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert digest(capsys, *words, "--pipelined") == BEST.digest
    order = ["--set", "thz.order=age"]
    changed = BEST.with_(thz__order="age").digest
    assert digest(capsys, *words, "--pipelined", *order) == changed


def test_an_answer_repeats_that_it_was_asked_of_pipelined_mechanisms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = ["ask", "tiny", "--pipelined", "--seeds", "1", "--iterations", "2", "--workers", "1"]
    assert main([*told, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["source"] == "tiny --pipelined"
    assert document["scenario_sha256"] == BEST.digest


def test_figures_have_the_names_of_the_field_and_keep_their_old_ones() -> None:
    commands = {command.name: command for command in reproduce_app.registered_commands}
    assert set(ALIASES.values()) <= set(FIGURES)
    for name, old in ALIASES.items():
        assert commands[name].help == commands[old].help
        assert (commands[name].hidden, commands[old].hidden) == (False, True)
