"""Overlays: named changes that fit any scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

from thzsync import Scenario, ThzSyncError
from thzsync.network import oversubscription
from thzsync.scenario import preset_names
from thzsync.scenario.overlays import overlay_names


@pytest.mark.parametrize("overlay", overlay_names())
@pytest.mark.parametrize("preset", preset_names())
def test_every_overlay_fits_every_preset(preset: str, overlay: str) -> None:
    once = Scenario.preset(preset).with_overlays(overlay)
    assert once.with_overlays(overlay) == once


@pytest.mark.parametrize("preset", ["paper", "beyond"])
def test_the_papers_radio_changes_nothing_of_the_papers_floor(preset: str) -> None:
    scenario = Scenario.preset(preset)
    assert scenario.with_overlays("paper").digest == scenario.digest


@pytest.mark.parametrize("radio", ["today", "2030"])
def test_the_papers_radio_undoes_others(radio: str) -> None:
    scenario = Scenario.preset("paper")
    assert scenario.with_overlays(radio, "paper") == scenario


def test_pipelined_mechanisms_on_the_papers_floor_are_those_of_beyond() -> None:
    beyond = Scenario.preset("beyond")
    piped = Scenario.preset("paper").with_overlays("pipelined")
    assert piped.model_copy(update={"name": "beyond"}) == beyond


@pytest.mark.parametrize(
    "network", [{}, {"network.kind": "leaf-spine", "network.oversubscription": 4}]
)
def test_non_blocking_fibre_is_not_oversubscribed(network: dict[str, object]) -> None:
    scenario = Scenario.preset("paper").with_(network)
    assert oversubscription(scenario) > 1
    assert oversubscription(scenario.with_overlays("non-blocking")) <= 1


def test_later_overlays_come_on_top(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('[thz]\nnoise_figure_db = 9\nsubband_hz = "2 GHz"\n')
    both = Scenario.preset("paper").with_overlays(mine, "paper")
    assert (both.thz.noise_figure_db, both.thz.subband_hz) == (3.5, 2e9)


def test_an_overlay_can_be_an_axis() -> None:
    from thzsync.studies.plan import make_plan
    from thzsync.studies.specification import specify

    plan = make_plan(specify({"base": "paper", "axes": {"overlay": ["paper", 2030]}}, ""))
    assert [point["overlay"] for point in plan.points] == ["paper", "2030"]  # one kind of value
    assert [run.scenario.thz.noise_figure_db for run in plan.runs[::3]] == [3.5, 8]


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    scenario = Scenario.preset("tiny")
    broken = tmp_path / "broken.toml"
    broken.write_text("[thz")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[thz]\nsubband = 3\n")
    for name, told in {
        "papr": "did you mean 'paper'",
        "no.toml": "No such file",
        str(broken): "cannot be read as an overlay",
        str(wrong): "thz.subband: unknown key",
    }.items():
        with pytest.raises(ThzSyncError, match=told) as caught:
            scenario.with_overlays(name)
        assert "\n" not in str(caught.value)
