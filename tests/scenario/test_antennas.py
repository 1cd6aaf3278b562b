"""Antennas: closed forms, published values of F.699, and what pointing and squint cost."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from thzsync import Scenario, ThzSyncError
from thzsync.channel import link_budget_per_w
from thzsync.scenario import Antenna, Thz, register_antenna
from thzsync.scenario.antennas import F699, Gaussian, Isotropic, f699_dbi
from thzsync.scenario.files import parse_scenario
from thzsync.scenario.starter import starter

ANGLES = np.linspace(0.0, 180.0, 1801)


def test_half_the_power_at_half_the_width_that_the_gain_implies() -> None:
    for gain_dbi in (10.0, 25.0, 40.0):
        width_deg = math.degrees(math.sqrt(16 * math.log(2) / 10 ** (gain_dbi / 10)))
        loss_db = Gaussian(side_lobe_db=100.0).loss_db(np.array([width_deg / 2]), gain_dbi)
        assert loss_db[0] == pytest.approx(10 * math.log10(2))


@pytest.mark.parametrize("gain_dbi", [20.0, 25.0, 35.0])
def test_a_gaussian_lobe_radiates_all_power_and_side_lobes_at_most_as_much_again(
    gain_dbi: float,
) -> None:
    theta = np.linspace(0, math.pi, 200_001)
    for floor_db, most in ((100.0, 1.0), (25.0, 2.0)):
        loss_db = Gaussian(side_lobe_db=floor_db).loss_db(np.degrees(theta), gain_dbi)
        gain = 10 ** ((gain_dbi - loss_db) / 10)
        radiated = np.trapezoid(gain * np.sin(theta), theta) / 2
        assert 0.98 < radiated < most * 1.01


def test_f699_agrees_with_published_values() -> None:
    """Of a 40 dBi antenna of 0.3 m and of 2 m at 27.25 GHz, as public implementations have them."""
    angle = np.array([0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 10, 100])
    small = [40, 39.98, 39.92, 39.53, 38.14, 32.57, 23.53, 22.59, 20.17, 12.64, -4.35]
    large = [40, 39.17, 36.69, 35.88, 32, 24.47, 20.07, 16.94, 14.52, 7, -10]
    for diameter_m, expected in ((0.3, small), (2.0, large)):
        found = f699_dbi(angle, 40.0, diameter_m * 27.25e9 / 3e8)
        np.testing.assert_allclose(found, expected, atol=0.011)


@pytest.mark.parametrize("gain_dbi", [-3.0, 0.0])
def test_no_gain_is_isotropic_under_every_pattern(gain_dbi: float) -> None:
    for kind in (Gaussian(), F699(), table("0 0", "90 30")):
        assert not kind.loss_db(ANGLES, gain_dbi).any()


@pytest.mark.parametrize("gain_dbi", [1.0, 10.0, 25.0, 48.0, 60.0])
def test_no_direction_is_stronger_than_the_axis(gain_dbi: float) -> None:
    for kind in (Gaussian(), F699()):
        loss_db = kind.loss_db(ANGLES, gain_dbi)
        assert loss_db[0] == 0.0
        assert (loss_db >= 0).all()
        assert np.isfinite(loss_db).all()


def table(*rows: str) -> Antenna:
    points = [tuple(map(float, row.split())) for row in rows]
    antenna = Thz.model_validate({"antenna": {"kind": "table", "points": points}}).antenna
    return antenna


def test_a_table_is_interpolated_and_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "pattern.csv"
    file.write_text("angle_deg, loss_db\n0, 0\n10, 20\n90, 30\n")
    paper = Scenario.paper()
    read = paper.with_({"thz.antenna": {"kind": "table", "file": str(file)}})
    assert read.thz.antenna == table("0 0", "10 20", "90 30")
    assert read.thz.antenna.loss_db(np.array([5.0, -50.0, 180.0]), 25.0).tolist() == [10, 25, 30]
    before = read.digest
    file.write_text("angle_deg, loss_db\n0, 0\n10, 21\n90, 30\n")
    after = paper.with_({"thz.antenna": {"kind": "table", "file": str(file)}})
    assert after.digest != before  # the content counts


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (None, "cannot be read"),
        ("angle_deg,loss\n0,0\n", "row 1"),
        ("angle_deg,loss_db\n0,0\n5,x\n", "row 2"),
        ("angle_deg,loss_db\n1,0\n", "rise from 0"),
        ("angle_deg,loss_db\n0,0\n20,3\n10,2\n", "rise from 0"),
        ("angle_deg,loss_db\n0,-3\n", "row 1"),
        ("angle_deg,loss_db\n0,nan\n", "row 1"),
        ("", "no rows"),
    ],
)
def test_a_bad_table_is_one_line(tmp_path: Path, text: str | None, named: str) -> None:
    file = tmp_path / "pattern.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ThzSyncError, match=named) as error:
        Scenario.paper().with_({"thz.antenna": {"kind": "table", "file": str(file)}})
    assert "\n" not in str(error.value)


def test_gains_at_both_ends_add_up() -> None:
    budget = link_budget_per_w(Thz(receive_gain_db=25, transmit_gain_db=20))
    one = link_budget_per_w(Thz(receive_gain_db=45))
    assert budget.shape == (4,)
    np.testing.assert_allclose(budget, one)


def test_pointing_error_costs_both_ends() -> None:
    """2 degrees off a lobe of 10.73 degrees: 12.04 (2 / 10.73)^2 = 0.418 dB each."""
    thz = Thz(transmit_gain_db=25, antenna=Gaussian(pointing_error_deg=2.0))
    assert thz.antenna_gains_db == pytest.approx([50 - 2 * 0.418] * 4, abs=2e-3)
    one = Thz(transmit_gain_db=0, antenna=Gaussian(pointing_error_deg=2.0))
    assert one.antenna_gains_db == pytest.approx([25 - 0.418] * 4, abs=1e-3)
    assert Thz(antenna=Isotropic(pointing_error_deg=2.0)).antenna_gains_db == [25.0] * 4


def test_squint_costs_outer_subbands_more() -> None:
    """At 45 degrees, 7.5 of 300 GHz turn the beam by 0.025 rad = 1.432 degrees."""
    thz = Thz(antenna=Gaussian(scan_angle_deg=45.0))
    width_deg = math.degrees(math.sqrt(16 * math.log(2) / 10**2.5))
    outer, inner = (4 * math.log(2) * (a / width_deg) ** 2 * 10 / math.log(10)
                    for a in (math.degrees(0.025), math.degrees(0.025 / 3)))  # fmt: skip
    expected = [25 - outer, 25 - inner, 25 - inner, 25 - outer]
    assert thz.antenna_gains_db == pytest.approx(expected)


def test_steering_is_guard_time() -> None:
    thz = Thz(round_overhead_s=30e-6, antenna=Gaussian(steering_s=12e-6))
    assert thz.guard_s == pytest.approx(42e-6)


def test_old_scenarios_keep_their_digest() -> None:
    paper = Scenario.paper()
    assert paper.digest.startswith("47fee674db75ac5a")  # of version 0.3
    assert paper.with_({"thz.antenna": "isotropic"}).digest == paper.digest
    for changes in ({"thz.antenna.steering_s": 1e-6}, {"thz.antenna": "gaussian"}):
        assert paper.with_(changes).digest != paper.digest


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_kind_of_ones_own() -> None:
    class Horn(Antenna):
        kind: str = "horn"

        def pattern_db(self, angle_deg, gain_dbi):  # type: ignore[no-untyped-def]
            return np.minimum(angle_deg, 30.0)

    register_antenna(Horn)
    thz = Thz.model_validate({"antenna": {"kind": "horn", "pointing_error_deg": 3}})
    assert thz.antenna_gains_db == pytest.approx([22.0] * 4)
    text = starter("tiny")
    assert '# kind = "horn"' in text
    assert parse_scenario(text, "starter") == Scenario.preset("tiny")


def test_unknown_kinds_and_keys_are_named() -> None:
    for given in ("gausian", {"kind": "gaussian", "widht": 3}, 7, {"scan_angle_deg": 90}):
        with pytest.raises(ValidationError):
            Thz.model_validate({"antenna": given})
