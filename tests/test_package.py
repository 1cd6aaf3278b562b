"""The front door of the package: what it offers, and what its functions take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import thzsync
from thzsync import Scenario, Session, ThzSyncError, compare, simulate, synthesize


def test_dir_shows_the_api_before_anything_was_used() -> None:
    code = "import thzsync; print(*(n for n in thzsync.__all__ if n not in dir(thzsync)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "", "missing from dir(thzsync)"


@pytest.mark.parametrize("name", thzsync.__all__)
def test_every_public_name_can_be_had_and_explains_itself(name: str) -> None:
    assert getattr(thzsync, name).__doc__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'simulat'"):
        thzsync.simulat  # noqa: B018


def tiny_file(folder: Path) -> Path:
    path = folder / "mine.toml"
    path.write_text(Scenario.preset("tiny").to_toml(), "utf-8")
    return path


def test_a_scenario_its_presets_name_and_its_file_are_the_same(tmp_path: Path) -> None:
    tiny = Scenario.preset("tiny")
    assert Scenario.of(tiny) is tiny
    for given in ("tiny", tiny_file(tmp_path), str(tiny_file(tmp_path))):
        assert Scenario.of(given) == tiny


def test_simulate_and_session_take_a_name(tmp_path: Path) -> None:
    runs = [
        simulate(given, "all-wired", 1, references={})
        for given in (Scenario.preset("tiny"), "tiny", tiny_file(tmp_path))
    ]
    assert all(run.iterations.equals(runs[0].iterations) for run in runs[1:])
    assert next(iter(Session("tiny"))).decision == next(iter(Session(runs[0].scenario))).decision


def test_compare_takes_a_name() -> None:
    compared = compare("tiny", ("all-wired",), seeds=1, iterations=1, workers=1)
    assert compared.scenario == Scenario.preset("tiny")


def test_synthesize_takes_a_name() -> None:
    options = {"racks": 4, "size_bytes": 2**20}
    by_name = synthesize("a2a", **options, scenario="paper")
    assert by_name.completion_ps == (
        synthesize("a2a", **options, scenario=Scenario.paper()).completion_ps
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("tyni", r"tyni: .*\btiny\b"),
        ("nowhere.toml", r"nowhere\.toml: "),
        (3, "scenario: found int; "),
    ],
)
def test_what_is_no_scenario_is_refused_in_one_line(given: object, told: str) -> None:
    for call in (simulate, compare, Session):
        with pytest.raises(ThzSyncError, match=f"^{told}") as error:
            call(given)  # type: ignore[operator]
        assert "\n" not in str(error.value)
