"""Path loss against the printed laws and closed forms, and absorption against published values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import channel_twin as twin
from thzsync.channel import ChannelModel
from thzsync.channel.atmosphere import FREQUENCY_HZ, attenuation_db_per_km
from thzsync.channel.pathloss import validity_notes
from thzsync.errors import ThzSyncError
from thzsync.scenario import (
    Channel,
    Floor,
    FreeSpace,
    GridFloor,
    LogDistance,
    Measured,
    Pairs,
    PathLoss,
    Scenario,
    Thz,
    register_path_loss,
)
from thzsync.scenario.fabric import AIR_BAND_HZ
from thzsync.scenario.files import build_scenario
from thzsync.scenario.path_loss import LOS, NLOS
from thzsync.streams import Streams
from thzsync.topology import Topology

CALM = Channel(fluctuation_db=0)
SIX = Topology(GridFloor(kind="grid", rows=2, columns=3))
RINGS = Topology(Floor(rings=2, slots_per_ring=5))


def pairs(distance_m, nlos_paths=1):
    place_m = np.zeros((len(distance_m), 2))
    return Pairs(distance_m, place_m, place_m, 300e9, nlos_paths)


def composite_gain(distance_m, nlos_paths):
    return Measured().gain(pairs(distance_m, nlos_paths))


def base(channel, topology=SIX, thz=None):
    """Mean gains of all pairs, and their distances."""
    thz = thz or Thz()
    model = ChannelModel.build(channel, thz, topology, Streams(0))
    src, dst = np.nonzero(~np.eye(topology.racks, dtype=bool))
    return model.base_gain(src, dst), topology.distance_m(src, dst)


def test_the_two_laws_meet_their_printed_intercepts_at_one_metre():
    one = np.ones(1)
    assert LOS.loss_db(one) == pytest.approx(82.69)
    assert NLOS.loss_db(one) == pytest.approx(106.6)


def test_ten_times_the_distance_costs_the_slope():
    near, far = np.array([2.0]), np.array([20.0])
    assert LOS.loss_db(far) - LOS.loss_db(near) == pytest.approx(18.8)
    assert NLOS.loss_db(far) - NLOS.loss_db(near) == pytest.approx(7.6)


def test_no_indirect_path_leaves_the_direct_one_and_more_paths_add_up():
    d = np.array([7.0])
    direct, one, three = (composite_gain(d, n) for n in (0, 1, 3))
    assert direct == pytest.approx(10 ** (-LOS.loss_db(d) / 10))
    assert three - direct == pytest.approx(3 * (one - direct))


@pytest.mark.parametrize("topology", [SIX, RINGS])
def test_a_rack_has_no_link_to_itself(topology):
    model = ChannelModel.build(CALM, Thz(), topology, Streams(0))
    racks = np.arange(topology.racks)
    assert (model.base_gain(racks, racks) == 0).all()
    assert (model.gains(racks, racks, 0) == 0).all()


def test_base_gain_is_the_printed_law_at_every_subband_centre():
    topology, thz = Topology(Floor(rings=3, slots_per_ring=5, racks_per_ring=4)), Thz()
    model = ChannelModel.build(CALM, thz, topology, Streams(0))
    src, dst = np.nonzero(~np.eye(topology.racks, dtype=bool))
    base = model.base_gain(src, dst)
    expected = [
        [twin.path_gain(float(topology.distance_m(a, b)), f, CALM) for f in thz.centres_hz]
        for a, b in zip(src.tolist(), dst.tolist(), strict=True)
    ]
    np.testing.assert_allclose(base, expected, rtol=1e-12)
    np.testing.assert_array_equal(model.gains(src, dst, 123), base)


def test_the_measured_band_passes_silently_and_a_wider_one_is_noted_not_refused():
    assert validity_notes(CALM, Thz()) == ()
    assert validity_notes(Channel(path_loss=FreeSpace()), Thz(subbands=6)) == ()
    wide = Thz(subbands=6)
    with pytest.warns(UserWarning, match="290-320 GHz .* 290-310 GHz"):
        model = ChannelModel.build(
            CALM, wide, Topology(Floor(rings=1, slots_per_ring=4)), Streams(0)
        )
    assert len(model.notes) == 1


@pytest.mark.parametrize("topology", [SIX, RINGS])
def test_free_space_is_the_friis_equation_at_every_subband(topology):
    thz = Thz(subbands=8)
    gain, distance_m = base(Channel(fluctuation_db=0, path_loss=FreeSpace()), topology, thz)
    wavelength_m = 299_792_458 / np.array(thz.centres_hz)
    expected = (wavelength_m / (4 * np.pi * distance_m[:, None])) ** 2
    np.testing.assert_allclose(gain, expected, rtol=1e-12)
    # A published value: 20 log10(d) + 20 log10(f) - 147.55 dB.
    loss_db = 20 * np.log10(distance_m) + 20 * np.log10(thz.centres_hz[0]) - 147.55
    np.testing.assert_allclose(-10 * np.log10(gain[:, 0]), loss_db, atol=0.01)


def test_log_distance_starts_at_its_intercept_and_falls_by_its_exponent():
    law = LogDistance(intercept_db=80, exponent=1.7)
    loss_db = -10 * np.log10(law.gain(pairs(np.array([1.0, 10.0, 100.0]))))
    np.testing.assert_allclose(loss_db, [80, 97, 114])


def test_log_distance_at_exponent_two_is_free_space():
    free = -10 * np.log10(FreeSpace().gain(pairs(np.ones(1)))[0])
    assert free == pytest.approx(LogDistance().intercept_db, abs=0.02)
    d = np.array([0.5, 3.0, 40.0])
    law = LogDistance(intercept_db=free, exponent=2)
    np.testing.assert_allclose(law.gain(pairs(d)), FreeSpace().gain(pairs(d)))


def test_a_law_that_amplifies_is_refused():
    near = Topology(GridFloor(kind="grid", rows=1, columns=2, spacing_m=0.1))
    with pytest.raises(ThzSyncError, match=r"log-distance.*gain of 100 over 0\.1 m"):
        base(Channel(path_loss=LogDistance(intercept_db=0, exponent=2)), near)


class Wall(PathLoss):
    """Free space with a wall at x = 1 m."""

    by_position = True
    kind: str = "test-wall"
    """Which path loss this is."""
    loss_db: float = 30.0
    """What the wall takes [dB]."""

    def gain(self, pairs):
        crosses = (pairs.a_m[..., 0] < 1) != (pairs.b_m[..., 0] < 1)
        return FreeSpace().gain(pairs) * np.where(crosses, 10 ** (-self.loss_db / 10), 1.0)


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_law_of_a_plug_in_sees_where_racks_stand():
    register_path_loss(Wall)
    keys = {"preset": "tiny", "channel": {"path_loss": {"kind": "test-wall", "loss_db": 20}}}
    scenario = build_scenario(keys, "test")
    topology = Topology(scenario.floor)
    walled, _ = base(scenario.channel, topology)
    free, _ = base(Channel(path_loss=FreeSpace()), topology)
    src, dst = np.nonzero(~np.eye(topology.racks, dtype=bool))
    left = topology.position_m[:, 0] < 1
    crosses = left[src] != left[dst]
    assert 0 < crosses.sum() < len(src)
    np.testing.assert_allclose(walled[crosses], free[crosses] / 100)
    np.testing.assert_array_equal(walled[~crosses], free[~crosses])


def test_a_path_loss_is_named_or_given_with_its_keys():
    short, long = (
        Scenario.preset("tiny").with_({"channel.path_loss": given})
        for given in ("free-space", {"kind": "log-distance", "exponent": 3})
    )
    assert short.channel.path_loss == FreeSpace()
    assert long.channel.path_loss == LogDistance(exponent=3)
    again = long.with_({"channel.path_loss.exponent": 2.5})
    assert again.channel.path_loss == LogDistance(exponent=2.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("free-spaces", "channel.path_loss.kind: .*'free-space'"),
        ({"kind": "log-distance", "exponent": -1}, r"channel\.path_loss\.exponent: found -1"),
        ({"exponent": 2}, r"channel\.path_loss\.exponent: unknown key"),
        (3, r"channel\.path_loss: "),
    ],
)
def test_a_wrong_path_loss_is_one_line_with_its_key(given, message):
    with pytest.raises(ThzSyncError, match=message) as caught:
        Scenario.preset("tiny").with_({"channel.path_loss": given})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("frequency_ghz", "db_per_km"),
    # ITU-R P.676-12 by itur 0.4.0, off the points of the table: 25 C, 11.5 g/m3, 1013.25 hPa.
    [(280, 6.038), (290, 6.738), (300, 7.704), (321, 26.596), (325.15, 56.180), (345, 13.822)],
)
def test_absorption_is_that_of_the_recommendation(frequency_ghz, db_per_km):
    found = attenuation_db_per_km(np.array([frequency_ghz * 1e9]))
    assert found == pytest.approx(db_per_km, rel=0.006)


@pytest.mark.parametrize("topology", [RINGS, SIX])
def test_air_takes_its_decibels_by_distance_and_subband(topology):
    thz = Thz(subbands=8, subband_hz=10e9)
    dry, distance_m = base(Channel(path_loss=FreeSpace()), topology, thz)
    wet, _ = base(Channel(path_loss=FreeSpace(), absorption="itu-r-p676"), topology, thz)
    per_km = attenuation_db_per_km(np.array(thz.centres_hz))
    expected_db = distance_m[:, None] / 1000 * per_km
    np.testing.assert_allclose(10 * np.log10(dry / wet), expected_db, atol=1e-9)


def test_air_costs_a_link_of_20_m_what_was_published():
    far = Topology(GridFloor(kind="grid", rows=1, columns=2, spacing_m=20))
    # One subband at 300 GHz, then one on the water line at 325 GHz.
    for start_hz, loss_db in ((297.5e9, 0.15), (322.65e9, 1.1)):
        thz = Thz(subbands=1, band_start_hz=start_hz)
        free, air = (
            base(Channel(path_loss=FreeSpace(), absorption=kind), far, thz)[0][0, 0]
            for kind in ("none", "itu-r-p676")
        )
        assert 10 * np.log10(free / air) == pytest.approx(loss_db, abs=0.05)


def test_a_band_outside_the_table_of_air_is_refused_with_its_key():
    assert (FREQUENCY_HZ[0], FREQUENCY_HZ[-1]) == AIR_BAND_HZ
    assert (np.diff(FREQUENCY_HZ) > 0).all()
    wet = Scenario.preset("tiny").with_({"channel.absorption": "itu-r-p676"})
    with pytest.raises(ThzSyncError, match=r"channel\.absorption: .*275 to 375 GHz") as caught:
        wet.with_({"thz.band_start_hz": 370e9})
    assert "\n" not in str(caught.value)


def test_keys_of_the_channel_count_in_the_digest_when_they_are_used():
    paper = Scenario.paper()
    changes = (
        {"channel.path_loss": "free-space"},
        {"channel.path_loss": {"kind": "log-distance"}},
        {"channel.path_loss": {"kind": "log-distance", "exponent": 2.1}},
        {"channel.absorption": "itu-r-p676"},
        {"channel.vary_gains_file": True},
    )
    assert paper.with_({"channel.path_loss": "measured"}).digest == paper.digest
    assert len({paper.digest, *(paper.with_(change).digest for change in changes)}) == 6
