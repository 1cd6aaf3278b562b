"""A variant of a scenario is validated like a file, and its mistakes are one line."""

from __future__ import annotations

from typing import Any

import pytest

from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.changes import parse_changes, parse_value, value_at

PAPER = Scenario.paper()


def test_keywords_and_dotted_keys_say_the_same() -> None:
    assert PAPER.with_(thz__subbands=8) == PAPER.with_({"thz.subbands": 8})
    assert PAPER.with_(thz__subbands=8).thz.subbands == 8


def test_a_variant_without_changes_is_equal_and_the_base_stays_as_it_is() -> None:
    assert PAPER.with_() == PAPER
    PAPER.with_(thz__subbands=8)
    assert PAPER.thz.subbands == 4


@pytest.mark.parametrize("job", ["0", "train"])
def test_a_job_goes_by_position_or_name(job: str) -> None:
    variant = PAPER.with_({f"jobs.{job}.training.microbatches": 4})
    assert variant.jobs[0].training is not None
    assert variant.jobs[0].training.microbatches == 4
    assert value_at(variant, f"jobs.{job}.training.microbatches") == 4


def test_nothing_takes_a_key_out_and_its_default_comes_back() -> None:
    limited = PAPER.with_(thz__rf_chains=2)
    assert limited.with_({"thz.rf_chains": None}) == PAPER


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thz.subbands": -3}, "scenario paper: thz.subbands: found -3; "),
        ({"thz.subband": 3}, "scenario paper: thz.subband: .*'subbands'"),
        ({"thz": 3}, "scenario paper: thz: found 3"),
        ({"thz.subbands.x": 3}, "scenario paper: thz.subbands is 4 "),
        ({"jobs.2.name": "x"}, "scenario paper: jobs.2: .*0, train"),
        ({"faults.0.start_s": 1}, "scenario paper: faults.0: "),
        ({"preset": "tiny"}, "scenario paper: preset: "),
        ({"jobs.0.training.moe_stages": [7]}, "scenario paper: jobs.0.training.moe_stages: stage"),
    ],
)
def test_a_wrong_change_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ThzSyncError, match=f"^{message}") as error:
        PAPER.with_(changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0.5", 0.5),
        ("true", True),
        ("[1, 2]", [1, 2]),
        ('"ring"', "ring"),
        ("ring", "ring"),
        ("100 Gbps", "100 Gbps"),
        ("", None),
    ],
)
def test_values_are_read_as_toml_and_bare_words_are_texts(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize("text", ["thz.subbands", "=3", "thz..subbands=3", ".=1"])
def test_an_assignment_without_key_or_equals_sign_is_refused(text: str) -> None:
    with pytest.raises(ThzSyncError, match="KEY=VALUE"):
        parse_changes([text])


def test_a_key_is_set_once() -> None:
    with pytest.raises(ThzSyncError, match=r"^--set: thz\.subbands "):
        parse_changes(["thz.subbands=2", "thz.subbands=4"])


SETTING_COMMANDS = [
    ["run", "tiny"],
    ["compare", "tiny"],
    ["synthesize", "a2a"],
    ["reproduce", "synthesis"],
    ["reproduce", "all"],
    ["scenario", "show"],
    ["trace", "generate", "tiny", "--out", "x"],
]


@pytest.mark.parametrize("command", SETTING_COMMANDS, ids=" ".join)
def test_every_command_with_a_scenario_takes_set_and_validates_it(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--set", "thz.subbands=-3"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("thzsync: error: --set: thz.subbands: found -3; ")
    assert error.count("\n") == 1


def test_set_changes_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["scenario", "show", "--set", "thz.subbands=8", "--set", "optical.inter_bps=1 Tbps"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "subbands = 8" in shown
    assert 'inter_bps = "1 Tb/s"' in shown
