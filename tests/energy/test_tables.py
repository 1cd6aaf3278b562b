"""Tables say which energy they count, and show the others only where they differ."""

from __future__ import annotations

import json

import pytest

from tests.energy.settings import ALL_KEYS, tiny
from thzsync.assumptions import assumptions
from thzsync.cli import main
from thzsync.experiments.compare import compare
from thzsync.scenario import Scenario

OPTIONS = [f"--set={key}={value}" for key, value in ALL_KEYS.items()]
PLAIN = Scenario.preset("tiny")


@pytest.mark.parametrize("set_", [False, True])
def test_a_comparison_shows_wall_plug_and_static_where_they_are_set(set_: bool) -> None:
    scenario = tiny() if set_ else PLAIN
    found = compare(scenario, ("all-wired", "all-wireless"), seeds=2, iterations=1, workers=1)
    headings = found.table().headings()
    assert "transmission [J]" in headings
    assert ("wall plug [J]" in headings) is ("static [J]" in headings) is set_
    for metric in ("wall_energy_j", "static_energy_j", "total_energy_j"):
        (axes,) = found.plot(metric).axes
        assert axes.get_ylabel().endswith("[J]")
        assert all(f"diff_{metric}" in row for row in found.rows())


@pytest.mark.parametrize("options", [[], OPTIONS], ids=["default", "set"])
def test_a_run_shows_them_too(
    options: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    arguments = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", *options]
    assert main([*arguments, "--json"]) == 0
    mean = json.loads(capsys.readouterr().out)["mean"]
    assert mean["total_energy_j"] == mean["wall_energy_j"] + mean["static_energy_j"]
    assert (mean["total_energy_j"] == mean["energy_j"]) is not bool(options)
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert ("static_energy_j" in shown) is bool(options)
    assert "transmission" in shown


def test_the_assumption_names_what_is_counted_and_its_parameters() -> None:
    assert assumptions(PLAIN)["Energy"].startswith("transmission only (40 pJ/bit/hop")
    told = assumptions(tiny({"reward.energy": "with-static"}))["Energy"]
    for value in (
        "21 pJ/bit", "9.8 pJ/bit", "800 mW", "15 pJ/bit", "5 %", "4 W", "60 W", "100 mW", "1 kW",
        "50 %", "25 %", "40 pJ/bit/hop",
    ):  # fmt: skip
        assert value in told, value
    assert "static" in told.split(";")[0]
