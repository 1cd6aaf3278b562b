"""Pictures show any metric against any axis, and the numbers behind them are plain values."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.studies.sweeps import made_up
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import METRICS
from thzsync.scenario import Scenario
from thzsync.studies.axes import key_name, value_name
from thzsync.studies.curves import crossovers, panels
from thzsync.studies.picture import save_pictures
from thzsync.studies.result import Sweep
from thzsync.studies.specification import specify

CONTENDERS = [{"name": name, "policy": "all-wired"} for name in ("a", "b")]


def swept(**axes: list[float]) -> Sweep:
    dotted = {key.replace("__", "."): values for key, values in axes.items()}
    return made_up(specify({"axes": dotted, "contenders": CONTENDERS, "seeds": 3}, "x"))


def test_a_legend_says_how_policies_are_called() -> None:
    asked = {
        "axes": {"thz.subbands": [2, 4]},
        "policies": ["all-wired-best", "thz-sync"],
        "seeds": 2,
    }
    (legend,) = made_up(specify(asked, "x")).plot().legends
    assert [text.get_text() for text in legend.get_texts()] == ["All-wired, best", "THz-SynC"]


def test_a_panel_holds_a_curve_per_policy_and_the_crossover() -> None:
    (panel,) = panels(swept(thz__subbands=[2, 4, 8]))
    assert [curve.policy for curve in panel.curves] == ["a", "b"]
    assert panel.curves[1].x == [2, 4, 8]
    assert panel.curves[1].mean == pytest.approx([16.1, 12.1, 4.1])
    (cross,) = panel.crossovers
    assert (cross.before, cross.behind) == ("a", "b")
    assert cross.x == pytest.approx(5.05)
    assert cross.low is not None
    assert cross.high is not None
    assert cross.low < 5.05 < cross.high


def test_a_second_axis_becomes_panels_and_a_third_must_be_held() -> None:
    two = swept(thz__subbands=[2, 8], thz__max_power_w=[0.1, 0.2, 0.4])
    assert len(panels(two)) == 3
    assert len(panels(two, axis="thz.max_power_w")) == 2
    three = swept(thz__subbands=[2, 8], thz__max_power_w=[0.1, 0.2], thz__rf_chains=[1, 2])
    with pytest.raises(ThzSyncError, match=r"at: .*thz\.rf_chains"):
        panels(three)
    assert len(panels(three, at={"thz.rf_chains": 1})) == 2


def test_every_crossover_of_a_sweep_is_listed_with_its_place() -> None:
    found = crossovers(swept(thz__subbands=[2, 8], thz__max_power_w=[0.1, 0.2]))
    assert {c["axis"] for c in found} == {"thz.subbands"}
    assert [c["held"] for c in found] == [{"thz.max_power_w": 0.1}, {"thz.max_power_w": 0.2}]


@pytest.mark.parametrize(
    ("metric", "axis", "message"),
    [("speed", None, r"metric: found 'speed'; .*completion_ms"), ("reward", "x", "axis: 'x'")],
)
def test_what_does_not_exist_is_refused(metric: str, axis: str | None, message: str) -> None:
    with pytest.raises(ThzSyncError, match=message):
        panels(swept(thz__subbands=[2, 8]), metric, axis)


def test_plot_returns_a_figure_with_a_panel_per_value() -> None:
    figure = swept(thz__subbands=[1, 2, 16], thz__max_power_w=[0.1, 0.2]).plot("completion_ms")
    assert len(figure.axes) == 2
    assert figure.axes[0].get_xscale() == "log"


def test_pictures_are_saved_and_equal_results_give_equal_files(tmp_path: Path) -> None:
    found = swept(thz__subbands=[2, 8], thz__max_power_w=[0.1, 0.2], thz__rf_chains=[1, 2])
    for name in ("one", "two"):
        save_pictures(found, tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "one/figures").iterdir())
    assert names == [
        f"{metric}_by_thz.subbands.{suffix}"
        for metric in ("completion_ms", "energy_j")
        for suffix in ("png", "svg")
    ]
    for name in names:
        one, two = (tmp_path / folder / "figures" / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_a_categorical_axis_has_no_crossover_and_can_be_drawn() -> None:
    spec = specify({"axes": {"collectives.allreduce": ["ring", "proposed"]}, "seeds": 2}, "x")
    rows = [
        {"collectives.allreduce": name, "policy": "thz-sync", "seed": seed, "iteration": 0}
        | dict.fromkeys(METRICS, 1.0)
        for name in ("ring", "proposed")
        for seed in (0, 1)
    ]
    found = Sweep(spec, Scenario.preset("tiny"), tuple(spec.points()), pl.DataFrame(rows))
    assert crossovers(found) == []
    assert found.plot("reward").axes[0].get_xticklabels()


def test_an_axis_in_decibels_is_linear_however_wide_it_is() -> None:
    found = swept(thz__noise_figure_db=[1.0, 4.0, 16.0], thz__subbands=[2, 4])
    figure = found.plot(axis="thz.noise_figure_db")
    assert figure.axes[0].get_xscale() == "linear"
    assert figure.axes[0].get_xlabel() == "Receiver noise figure"
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()][1] == "4 dB"


def test_curves_that_compete_are_told_apart() -> None:
    """All values lie between 10 and 14 ms: an axis that begins at 0 would press them together."""
    low, high = swept(thz__subbands=[3, 5]).plot().axes[0].get_ylim()
    assert low > 5
    assert high < 20


def test_every_number_of_a_scenario_has_a_name_and_its_unit() -> None:
    described = {key: (key_name(key), value_name(4e9, key)) for key in KEYS}
    assert described == KEYS


KEYS = {
    "optical.inter_bps": ("rate of the fibre between two ring switches", "4 Gb/s"),
    "optical.packet_bytes": ("largest packet", "3.73 GiB"),
    "thz.subbands": ("number of non-overlapping subbands", "4,000,000,000"),
    "thz.band_start_hz": ("lower edge of the band", "4 GHz"),
    "channel.reference_hz": ("f_0 of the path-loss laws", "4 GHz"),
    "jobs.train.training.allreduce_buckets": ("gradient buckets per stage", "4,000,000,000"),
    "nobody.knows": ("nobody.knows", "4,000,000,000"),
}
